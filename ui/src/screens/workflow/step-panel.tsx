import { Link } from 'wouter';
import type { StepState, WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { client } from '../../data/client.ts';
import { useLive } from '../../data/use-live.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Loading, Problem } from '../../parts/notes.tsx';
import { Progress } from '../../parts/progress.tsx';
import { State } from '../../parts/state.tsx';
import { hasEnded } from '../../words/state.ts';
import { AttemptLog } from '../job/attempt-log.tsx';
import { CommandLine } from '../job/command-line.tsx';
import { Items } from '../job/items.tsx';
import { Why } from '../job/why.tsx';
import { RerunButton } from './rerun-button.tsx';
import { howItWent } from './step-list.tsx';

interface StepPanelProps {
  step: StepState;
  workflow: WorkflowDetail;
  onRerun: (key: string) => void;
  onClose: () => void;
}

/** A step beside the graph: its facts, its items, its result and its log. */
export function StepPanel({ step, workflow, onRerun, onClose }: StepPanelProps) {
  const { job_id: id } = step;
  const job = useLive({
    key: ['job', id],
    about: { topics: ['jobs'], ids: [id] },
    fetch: (signal) => client.readJob(id, { signal }),
  });
  const { data } = job;
  return (
    <aside className="job-panel graph-panel" aria-label={`Step ${step.key}`}>
      <header className="panel-head">
        <State of={step.status} />
        <h2>
          <Link href={`/jobs/${id}`}>{step.key}</Link>
        </h2>
        <span className="faint">{howItWent(step)}</span>
        <span className="spacer" />
        {hasEnded(workflow.status) && <RerunButton step={step.key} workflow={workflow} onRerun={onRerun} />}
        <button type="button" className="plain" aria-label="Close the panel" onClick={onClose}>
          ×
        </button>
      </header>
      {job.error !== null && <Problem error={job.error} onRetry={() => void job.refetch()} />}
      {data === undefined ? (
        job.error === null && <Loading />
      ) : (
        <>
          <CommandLine job={data} />
          <Progress job={data} />
          <Why job={data} />
          <Items job={data} />
          {data.result != null && (
            <section>
              <h3>Result</h3>
              <JsonTree value={data.result} label="Result" />
            </section>
          )}
          {step.group === null && <AttemptLog key={id} job={data} />}
        </>
      )}
    </aside>
  );
}
