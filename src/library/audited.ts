/** Changes by the library in the audit, under the name of an actor. Submissions carry the name on their jobs instead. */

import { type ParamsOf, pathOf, type Route } from '../api/route.ts';
import { routes } from '../api/routes.ts';
import { isWorkronError } from '../core/error.ts';
import { actionOf } from '../core/job-change.ts';
import { NEVER } from '../core/never.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Engine } from './engine.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

/** Makes a change, with its entry in the audit. */
type Recorder = <R extends Route, T>(route: R, params: ParamsOf<R>, change: () => Promise<T>) => Promise<T>;

/** The same engine. An entry is written before each change and gets its result afterwards, as for a request of the API. */
export function audited(engine: Engine, scheduler: Scheduler, actor: string): Engine {
  const record: Recorder = async (route, params, change) => {
    const about = { actor, address: 'library', action: actionOf(route), path: pathOf(route, params), requestId: '' };
    const id = await scheduler.addAudit({ ...about, status: null }, NEVER);
    try {
      const changed = await change();
      await scheduler.endAudit(id, 200, NEVER);
      return changed;
    } catch (error) {
      await scheduler.endAudit(id, isWorkronError(error) ? error.httpStatus : 500, NEVER).catch(() => undefined);
      throw error;
    }
  };
  return {
    ...engine,
    cancel: (id, signal) => record(routes.cancelJob, { id }, () => engine.cancel(id, signal)),
    retry: (id, signal) => record(routes.retryJob, { id }, () => engine.retry(id, signal)),
    schedules: auditedSchedules(engine.schedules, record),
  };
}

function auditedSchedules(calls: ScheduleCalls, record: Recorder): ScheduleCalls {
  return {
    ...calls,
    put: (name, declaration, signal) =>
      record(routes.putSchedule, { name }, () => calls.put(name, declaration, signal)),
    pause: (name, note, signal) => record(routes.pauseSchedule, { name }, () => calls.pause(name, note, signal)),
    resume: (name, signal) => record(routes.resumeSchedule, { name }, () => calls.resume(name, signal)),
    remove: (name, signal) => record(routes.deleteSchedule, { name }, () => calls.remove(name, signal)),
    run: (name, keys, signal) => record(routes.runSchedule, { name }, () => calls.run(name, keys, signal)),
    backfill: (name, request, signal) =>
      record(routes.backfillSchedule, { name }, () => calls.backfill(name, request, signal)),
  };
}
