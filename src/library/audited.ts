/** Changes by the library in the audit, under the name of an actor. Submissions carry the name on their jobs instead. */

import { pathOf, type Route } from '../api/route.ts';
import { routes } from '../api/routes.ts';
import { isWorkronError } from '../core/error.ts';
import { NEVER } from '../core/never.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Engine } from './engine.ts';
import type { ScheduleCalls } from './schedule-calls.ts';

/** The same engine. An entry is written before each change and gets its result afterwards, as for a request of the API. */
export function audited(engine: Engine, scheduler: Scheduler, actor: string): Engine {
  async function record<T>({ method, path }: Route, place: string, change: () => Promise<T>): Promise<T> {
    const about = { actor, address: 'library', action: `${method} ${path}`, path: place, requestId: '' };
    const id = await scheduler.addAudit({ ...about, status: null }, NEVER);
    try {
      const changed = await change();
      await scheduler.endAudit(id, 200, NEVER);
      return changed;
    } catch (error) {
      await scheduler.endAudit(id, isWorkronError(error) ? error.httpStatus : 500, NEVER).catch(() => undefined);
      throw error;
    }
  }
  const ofJob = <T>(route: typeof routes.cancelJob | typeof routes.retryJob, id: string, change: () => Promise<T>) =>
    record(route, pathOf(route, { id }), change);
  return {
    ...engine,
    cancel: (id, signal) => ofJob(routes.cancelJob, id, () => engine.cancel(id, signal)),
    retry: (id, signal) => ofJob(routes.retryJob, id, () => engine.retry(id, signal)),
    schedules: auditedSchedules(engine.schedules, record),
  };
}

function auditedSchedules(
  calls: ScheduleCalls,
  record: <T>(route: Route, place: string, change: () => Promise<T>) => Promise<T>,
): ScheduleCalls {
  const at = (name: string, rest = '') => `/schedules/${encodeURIComponent(name)}${rest}`;
  return {
    ...calls,
    put: (name, declaration, signal) =>
      record(routes.putSchedule, at(name), () => calls.put(name, declaration, signal)),
    pause: (name, note, signal) =>
      record(routes.pauseSchedule, at(name, '/pause'), () => calls.pause(name, note, signal)),
    resume: (name, signal) => record(routes.resumeSchedule, at(name, '/resume'), () => calls.resume(name, signal)),
    remove: (name, signal) => record(routes.deleteSchedule, at(name), () => calls.remove(name, signal)),
    run: (name, keys, signal) => record(routes.runSchedule, at(name, '/run'), () => calls.run(name, keys, signal)),
    backfill: (name, request, signal) =>
      record(routes.backfillSchedule, at(name, '/backfill'), () => calls.backfill(name, request, signal)),
  };
}
