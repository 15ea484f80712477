import { lazy, Suspense, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { client } from '../../data/client.ts';
import { useAction } from '../../data/use-action.ts';
import { useLive } from '../../data/use-live.ts';
import { CopyLine } from '../../parts/copy.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Empty, Loading, Problem } from '../../parts/notes.tsx';
import { PageHead, useTitle } from '../../parts/page-head.tsx';
import { State } from '../../parts/state.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Elapsed, When } from '../../parts/when.tsx';
import { isMissing } from '../../words/message-of.ts';
import { visibleLine } from '../../words/visible-text.ts';
import { StepBar } from '../workflows/step-bar.tsx';
import { Gantt } from './gantt.tsx';
import { RerunDialog } from './rerun-dialog.tsx';
import { StepList } from './step-list.tsx';

const Graph = lazy(() => import('./graph.tsx').then((file) => ({ default: file.Graph })));
/** More than this is not readable as a picture. */
const MAX_DRAWN = 400;

/** One workflow: its graph, when each step waited and ran, and the same as a list. */
export function WorkflowScreen({ id }: { id: string }) {
  const [search, setSearch] = useSearchParams();
  const [from, setFrom] = useState<string | null>(null);
  const [, go] = useLocation();
  const workflow = useLive({
    key: ['workflow', id],
    about: { topics: ['jobs'] },
    fetch: (signal) => client.workflow(id, { signal }),
  });
  const cancel = useAction({
    run: () => client.cancelWorkflow(id),
    done: () => `Workflow ${id} is being cancelled`,
    after: () => void workflow.refetch(),
  });
  const retry = useAction({
    run: () => client.retryWorkflow(id),
    done: () => `What failed in workflow ${id} is tried again`,
    after: () => void workflow.refetch(),
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
  const open = data.status === 'pending' || data.status === 'running';
  const drawable = data.steps.length <= MAX_DRAWN;
  const views = [
    ...(drawable
      ? [
          {
            key: 'graph',
            label: 'Graph',
            content: () => (
              <Suspense fallback={<Loading />}>
                <Graph workflow={data} onRerun={setFrom} />
              </Suspense>
            ),
          },
          { key: 'gantt', label: 'Gantt', content: () => <Gantt workflow={data} /> },
        ]
      : []),
    {
      key: 'list',
      label: `Steps (${data.steps.length})`,
      content: () => <StepList workflow={data} onRerun={setFrom} />,
    },
    {
      key: 'params',
      label: 'Parameters',
      content: () => (
        <div className="stack">
          <JsonTree value={data.params} label="Parameters" />
          <CopyLine label="On the command line" text={`workron workflow get ${id}`} />
        </div>
      ),
    },
  ];
  return (
    <section className="screen screen-tall">
      <PageHead
        title={<bdi>{visibleLine(data.name)}</bdi>}
        sub={
          <span className="job-facts">
            <State of={data.status} /> <span className="faint">workflow {data.id}</span>
            <StepBar counts={data.step_counts} />
            <span className="faint">
              <When at={data.created_at} />, <Elapsed from={data.started_at} to={data.ended_at} />
            </span>
            {data.rerun_of !== null && <Link href={`/workflows/${data.rerun_of}`}>repeats {data.rerun_of}</Link>}
          </span>
        }
      >
        {open && (
          <button type="button" className="danger" disabled={cancel.running} onClick={() => cancel.run()}>
            Cancel
          </button>
        )}
        {(data.status === 'failed' || data.status === 'cancelled') && (
          <button type="button" className="primary" disabled={retry.running} onClick={() => retry.run()}>
            Retry what failed
          </button>
        )}
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
