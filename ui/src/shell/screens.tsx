import { Suspense } from 'react';
import { Link, Route, Switch } from 'wouter';
import { Empty, Loading } from '../parts/notes.tsx';
import { Overview } from '../screens/overview/overview.tsx';
import { lazyScreen } from './lazy-screen.ts';

const Jobs = lazyScreen(async () => (await import('../screens/jobs/jobs.tsx')).Jobs);
const JobScreen = lazyScreen(async () => (await import('../screens/job/job-screen.tsx')).JobScreen);
const Workflows = lazyScreen(async () => (await import('../screens/workflows/workflows.tsx')).Workflows);
const WorkflowScreen = lazyScreen(async () => (await import('../screens/workflow/workflow-screen.tsx')).WorkflowScreen);
const DefinitionScreen = lazyScreen(
  async () => (await import('../screens/definitions/definition-screen.tsx')).DefinitionScreen,
);
const Queues = lazyScreen(async () => (await import('../screens/queues/queues.tsx')).Queues);
const QueueScreen = lazyScreen(async () => (await import('../screens/queues/queue-screen.tsx')).QueueScreen);
const Schedules = lazyScreen(async () => (await import('../screens/schedules/schedules.tsx')).Schedules);
const ScheduleScreen = lazyScreen(
  async () => (await import('../screens/schedules/schedule-screen.tsx')).ScheduleScreen,
);
const Cluster = lazyScreen(async () => (await import('../screens/cluster/cluster.tsx')).Cluster);
const Access = lazyScreen(async () => (await import('../screens/access/access.tsx')).Access);
const Workers = lazyScreen(async () => (await import('../screens/workers/workers.tsx')).Workers);

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
        <Route path="/definitions/:name">{({ name }) => <DefinitionScreen key={name} name={name} />}</Route>
        <Route path="/queues">
          <Queues />
        </Route>
        <Route path="/queues/show">
          <QueueScreen />
        </Route>
        <Route path="/schedules">
          <Schedules />
        </Route>
        <Route path="/schedules/:name">{({ name }) => <ScheduleScreen key={name} name={name} />}</Route>
        <Route path="/cluster">
          <Cluster />
        </Route>
        <Route path="/access">
          <Access />
        </Route>
        <Route path="/workers">
          <Workers />
        </Route>
        <Route>
          <Empty alone title="There is nothing at this address">
            <Link href="/">Go to Today</Link>
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  );
}
