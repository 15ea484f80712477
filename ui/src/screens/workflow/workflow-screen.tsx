import { lazy, Suspense, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { firstFailed } from '../../../../src/api/first-failed.ts';
import type { WorkflowDetail } from '../../../../src/api/workflow/workflow.ts';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { May } from '../../parts/may.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { State } from '../../parts/state.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { Elapsed, When } from '../../parts/when.tsx';
import { workron } from '../../words/as-command.ts';
import { isMissing } from '../../words/message-of.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { StepBar } from '../workflows/step-bar.tsx';
import { Gantt } from './gantt.tsx';
import { RerunDialog } from './rerun-dialog.tsx';
import { StepList } from './step-list.tsx';

const Graph = lazy(() => import('./graph.tsx').then((file) => ({ default: file.Graph })));
/** A graph with more steps is not readable. */
const MAX_DRAWN = 400;

/** One workflow: its graph, the times of its steps, and its steps as a list. */
export function WorkflowScreen({ id }: { id: string }) {
  const [search, setSearch] = useSearchParams();
  const [from, setFrom] = useState<string | null>(null);
  const [, go] = useLocation();
  const workflow = useLive({
    key: ['workflow', id],
    about: { topics: ['jobs'] },
    fetch: (signal) => client.readWorkflow(id, { signal }),
  });
  const { data } = workflow;
  useTitle(data === undefined ? `Workflow ${id}` : `${data.status}: ${visibleLine(data.name)}`);
  if (isMissing(workflow.error)) {
    return (
      <Empty alone title={`There is no workflow ${id}`}>
        <Link href="/workflows">All workflows</Link>
      </Empty>
    );
  }
  if (data === undefined)
    return workflow.error === null ? (
      <Loading />
    ) : (
      <Problem error={workflow.error} onRetry={() => void workflow.refetch()} />
    );
  const views = viewsOf(data, setFrom);
  return (
    <section className="screen screen-tall">
      <PageHead title={<bdi>{visibleLine(data.name)}</bdi>} sub={<WorkflowFacts workflow={data} />}>
        <WorkflowActions workflow={data} onChanged={() => void workflow.refetch()} />
      </PageHead>
      <Tabs
        label="Views"
        tabs={views}
        chosen={search.get('view') ?? views[0]?.key ?? 'list'}
        onChoose={(view) => setSearch({ view }, { replace: true })}
      />
      {from !== null && (
        <RerunDialog
          workflow={data}
          from={from}
          onClose={() => setFrom(null)}
          onDone={(made) => {
            setFrom(null);
            go(`/workflows/${made}`);
          }}
        />
      )}
    </section>
  );
}

function WorkflowFacts({ workflow }: { workflow: WorkflowDetail }) {
  return (
    <span className="job-facts">
      <State of={workflow.status} /> <span className="faint">workflow {workflow.id}</span>
      <StepBar
        counts={workflow.step_counts}
        skipped={workflow.steps.filter((step) => step.status === 'skipped').length}
      />
      <span className="faint">
        <When at={workflow.created_at} />
        {workflow.submitted_by !== null && (
          <>
            {' '}
            by <bdi>{visibleLine(workflow.submitted_by)}</bdi>
          </>
        )}
        , <Elapsed from={workflow.started_at} to={workflow.ended_at} />
      </span>
      <FirstFailure steps={workflow.steps} />
      {workflow.rerun_of !== null && <Link href={`/workflows/${workflow.rerun_of}`}>rerun of {workflow.rerun_of}</Link>}
    </span>
  );
}

/** The step that failed first, and how. */
function FirstFailure({ steps }: Pick<WorkflowDetail, 'steps'>) {
  const step = firstFailed(steps.filter(({ continue_on_failure }) => !continue_on_failure));
  if (step === undefined) return null;
  return (
    <Link className="why-bad" href={`/jobs/${step.job_id}`}>
      <bdi>{visibleLine(`${step.key}: ${step.failure?.line ?? 'failed'}`)}</bdi>
    </Link>
  );
}

interface WorkflowActionsProps {
  workflow: WorkflowDetail;
  onChanged: () => void;
}

function WorkflowActions({ workflow: { id, status }, onChanged }: WorkflowActionsProps) {
  const cancel = useAction({
    run: () => client.cancelWorkflow(id),
    done: () => `Workflow ${id} is being cancelled`,
    after: onChanged,
  });
  const retry = useAction({
    run: () => client.retryWorkflow(id),
    done: () => `Retrying the failed steps of workflow ${id}`,
    after: onChanged,
  });
  return (
    <May scope="operate">
      {(status === 'pending' || status === 'running') && (
        <button type="button" className="danger" disabled={cancel.running} onClick={() => cancel.run()}>
          Cancel
        </button>
      )}
      {(status === 'failed' || status === 'cancelled') && (
        <button type="button" className="primary" disabled={retry.running} onClick={() => retry.run()}>
          Retry failed steps
        </button>
      )}
    </May>
  );
}

/** The tabs of the screen. `onRerun` gets the step to rerun from. */
function viewsOf(workflow: WorkflowDetail, onRerun: (key: string) => void): Tab[] {
  const drawable = workflow.steps.length <= MAX_DRAWN;
  return [
    ...(drawable
      ? [
          {
            key: 'graph',
            label: 'Graph',
            content: () => (
              <Suspense fallback={<Loading />}>
                <Graph workflow={workflow} onRerun={onRerun} />
              </Suspense>
            ),
          },
          { key: 'gantt', label: 'Gantt', content: () => <Gantt workflow={workflow} /> },
        ]
      : []),
    {
      key: 'list',
      label: `Steps (${workflow.steps.length})`,
      content: () => <StepList workflow={workflow} onRerun={onRerun} />,
    },
    {
      key: 'params',
      label: 'Parameters',
      content: () => (
        <div className="stack">
          <JsonTree value={workflow.params} label="Parameters" />
          <CopyLine label="CLI command" text={workron(`workflow get ${workflow.id}`)} />
        </div>
      ),
    },
  ];
}
