/** Changes by the library in the audit, under the name of an actor. Submissions carry the name on their jobs instead. */

import type { Scheduler } from '../scheduler/scheduler.ts';
import type { Engine } from './engine.ts';

/** The same engine. */
export function audited(engine: Engine, scheduler: Scheduler, actor: string): Engine {
  const decide = <T>(action: string, subject: string, change: () => Promise<T>): Promise<T> =>
    scheduler.decide({ actor, address: 'library', action, subject, requestId: '' }, change);
  const { schedules: calls } = engine;
  return {
    ...engine,
    cancel: (id, signal) => decide('job.cancel', `job/${id}`, () => engine.cancel(id, signal)),
    retry: (id, signal) => decide('job.retry', `job/${id}`, () => engine.retry(id, signal)),
    schedules: {
      ...calls,
      put: (name, wanted, signal) => decide('schedule.put', `schedule/${name}`, () => calls.put(name, wanted, signal)),
      pause: (name, note, signal) =>
        decide('schedule.pause', `schedule/${name}`, () => calls.pause(name, note, signal)),
      resume: (name, signal) => decide('schedule.resume', `schedule/${name}`, () => calls.resume(name, signal)),
      remove: (name, signal) => decide('schedule.delete', `schedule/${name}`, () => calls.remove(name, signal)),
      run: (name, keys, signal) => decide('schedule.run', `schedule/${name}`, () => calls.run(name, keys, signal)),
      backfill: (name, request, signal) =>
        decide('schedule.backfill', `schedule/${name}`, () => calls.backfill(name, request, signal)),
    },
  };
}
