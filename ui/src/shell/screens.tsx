import { lazy, Suspense } from 'react';
import { Link, Route, Switch } from 'wouter';
import { Empty, Loading } from '../parts/notes.tsx';
import { Overview } from '../screens/overview/overview.tsx';

const Jobs = lazy(() => import('../screens/jobs/jobs.tsx').then((file) => ({ default: file.Jobs })));
const JobScreen = lazy(() => import('../screens/job/job-screen.tsx').then((file) => ({ default: file.JobScreen })));
const Workflows = lazy(() =>
  import('../screens/workflows/workflows.tsx').then((file) => ({ default: file.Workflows })),
);
const WorkflowScreen = lazy(() =>
  import('../screens/workflow/workflow-screen.tsx').then((file) => ({ default: file.WorkflowScreen })),
);
const Queues = lazy(() => import('../screens/queues/queues.tsx').then((file) => ({ default: file.Queues })));
const Schedules = lazy(() =>
  import('../screens/schedules/schedules.tsx').then((file) => ({ default: file.Schedules })),
);
const ScheduleScreen = lazy(() =>
  import('../screens/schedules/schedule-screen.tsx').then((file) => ({ default: file.ScheduleScreen })),
);
const Cluster = lazy(() => import('../screens/cluster/cluster.tsx').then((file) => ({ default: file.Cluster })));
const Workers = lazy(() => import('../screens/workers/workers.tsx').then((file) => ({ default: file.Workers })));

/** The screen of each address. */
export function Screens({ onNewJob }: { onNewJob: () => void }) {
  return (
    <Suspense fallback={<Loading />}>
      <Switch>
        <Route path="/">
          <Overview />
        </Route>
        <Route path="/jobs">
          <Jobs onNewJob={onNewJob} />
        </Route>
        <Route path="/jobs/:id">{({ id }) => <JobScreen key={id} id={id} />}</Route>
        <Route path="/workflows">
          <Workflows />
        </Route>
        <Route path="/workflows/:id">{({ id }) => <WorkflowScreen key={id} id={id} />}</Route>
        <Route path="/queues">
          <Queues />
        </Route>
        <Route path="/schedules">
          <Schedules />
        </Route>
        <Route path="/schedules/:name">{({ name }) => <ScheduleScreen key={name} name={name} />}</Route>
        <Route path="/cluster">
          <Cluster />
        </Route>
        <Route path="/workers">
          <Workers />
        </Route>
        <Route>
          <Empty alone title="There is nothing at this address">
            <Link href="/">Go to the overview</Link>
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  );
}
