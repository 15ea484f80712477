/** Jobs in this process's memory, gone with it: for tests, for trying things, and the plainest statement of what a store does. */

import type { Clock } from '../../../core/clock.ts';
import type { Fence } from '../../../core/leadership.ts';
import type { Store } from '../../store.ts';
import { beatInstance, forgetInstances, instances, leaveInstance } from '../cluster/instances.ts';
import { duties, lead, requireTerm, resign } from '../cluster/leadership.ts';
import { deliver, notices, notifications, postponeNotice } from '../cluster/notices.ts';
import { advanceOperation, createOperation, openOperations, operation } from '../cluster/operations.ts';
import { prune, pruneTicks } from '../cluster/prune.ts';
import { queues, setQueue } from '../cluster/queues.ts';
import { addStats, stats } from '../cluster/stats.ts';
import { drainWorker, leaveWorker, registerWorker, retireWorkers, workers } from '../cluster/workers.ts';
import { cascade } from '../graph/cascade.ts';
import { expand } from '../graph/expand.ts';
import { insertWorkflow, steps, workflow, workflows } from '../graph/workflows.ts';
import { applyChanges } from '../jobs/apply-changes.ts';
import { claim } from '../jobs/claim.ts';
import { findExpired, findLost, promote } from '../jobs/duties.ts';
import { edit } from '../jobs/edit.ts';
import { heartbeat } from '../jobs/heartbeat.ts';
import { insert } from '../jobs/insert.ts';
import { insertAndClaim } from '../jobs/insert-and-claim.ts';
import { appendLog, readLog } from '../jobs/logs.ts';
import { checkpoint, report } from '../jobs/progress.ts';
import { settle, start } from '../jobs/settle.ts';
import { giveTurnsTo } from '../jobs/turns.ts';
import { attempts, count, countAhead, list, read } from '../reads/reading.ts';
import { runSchedule, ticks, ticksWithoutRun } from '../schedules/run-schedule.ts';
import { changeSchedule, createSchedule, deleteSchedule, schedule, schedules } from '../schedules/schedules.ts';
import { stoppedOthers, tick } from '../schedules/tick.ts';
import { createTables } from './tables.ts';

type Run = <T>(signal: AbortSignal, body: () => T) => Promise<T>;

export function openMemory({ clock }: { clock: Clock }): Store {
  let instant: number | null = null;
  const tables = createTables({
    now: () => instant ?? clock.now(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });

  /** One call is one turn of the event loop at most, and one instant: nobody sees it half done. */
  async function look<T>(signal: AbortSignal, body: () => T): Promise<T> {
    signal.throwIfAborted();
    instant = clock.now();
    try {
      const answer = body();
      giveTurnsTo(tables, tables.newcomers);
      return answer;
    } finally {
      tables.newcomers.clear();
      instant = null;
    }
  }
  const runFenced =
    (fence: () => Fence): Run =>
    (signal, body) =>
      look(signal, () => {
        requireTerm(tables, fence());
        return body();
      });

  const storeBy = (run: Run): Store => ({
    driver: 'memory',
    location: 'memory',
    exclusive: true,
    leaseKeeper: null,
    transactional: null,
    deadlocks: () => 0,
    now: (signal) => look(signal, () => clock.now()),

    insert: (jobs, options, signal) => run(signal, () => insert(tables, jobs, options)),
    insertAndClaim: (jobs, request, signal) => run(signal, () => insertAndClaim(tables, jobs, request)),
    claim: (request, signal) => run(signal, () => claim(tables, request)),
    start: (starts, signal) => run(signal, () => start(tables, starts)),
    heartbeat: (beat, signal) => run(signal, () => heartbeat(tables, beat)),
    settle: (successes, signal) => run(signal, () => settle(tables, successes)),
    applyChanges: (changes, signal) => run(signal, () => applyChanges(tables, changes)),
    edit: (jobId, wanted, signal) => run(signal, () => edit(tables, jobId, wanted)),

    promote: (limit, signal) => run(signal, () => promote(tables, limit)),
    findExpired: (limit, signal) => look(signal, () => findExpired(tables, limit)),
    findLost: (request, signal) => look(signal, () => findLost(tables, request)),
    findUnlocked: (signal) => look(signal, () => ({ workers: [], serverUpMs: 0 })),
    graphWork: (signal) =>
      look(signal, () => ({ adopt: false, cascade: tables.cascade.size > 0, expand: tables.due.size > 0 })),
    cascade: (limit, signal) => run(signal, () => cascade(tables, limit)),
    expand: (limit, signal) => run(signal, () => expand(tables, limit)),
    adopt: (_limit, signal) => run(signal, () => 0),
    retireWorkers: (forgetAfterMs, signal) => run(signal, () => retireWorkers(tables, forgetAfterMs)),
    prune: (retention, limit, signal) => run(signal, () => prune(tables, retention, limit)),

    notices: (limit, signal) => look(signal, () => notices(tables, limit)),
    deliver: (noticeId, delivery, signal) => run(signal, () => deliver(tables, noticeId, delivery)),
    postponeNotice: (noticeId, forMs, signal) => run(signal, () => postponeNotice(tables, noticeId, forMs)),
    notifications: (about, signal) => look(signal, () => notifications(tables, about)),

    read: (ids, signal) => look(signal, () => read(tables, ids)),
    list: (filter, page, signal) => look(signal, () => list(tables, filter, page)),
    count: (filter, atMost, signal) => look(signal, () => count(tables, filter, atMost)),
    attempts: (jobId, signal) => look(signal, () => attempts(tables, jobId)),
    countAhead: (jobId, atMost, signal) => look(signal, () => countAhead(tables, jobId, atMost)),

    insertWorkflow: (wanted, options, signal) => run(signal, () => insertWorkflow(tables, wanted, options)),
    workflow: (id, signal) => look(signal, () => workflow(tables, id)),
    workflows: (filter, page, signal) => look(signal, () => workflows(tables, filter, page)),
    steps: (workflowId, signal, page) => look(signal, () => steps(tables, workflowId, page)),

    createSchedule: (wanted, signal) => run(signal, () => createSchedule(tables, wanted)),
    changeSchedule: (name, request, signal) => run(signal, () => changeSchedule(tables, name, request)),
    deleteSchedule: (name, signal) => run(signal, () => deleteSchedule(tables, name)),
    schedule: (name, signal) => look(signal, () => schedule(tables, name)),
    schedules: (filter, page, signal) => look(signal, () => schedules(tables, filter, page)),
    runSchedule: (name, request, options, signal) => run(signal, () => runSchedule(tables, name, request, options)),
    ticksWithoutRun: (name, request, signal) => look(signal, () => ticksWithoutRun(tables, name, request)),
    tick: (request, signal) => run(signal, () => tick(tables, request)),
    stoppedOthers: (tickIds, signal) => run(signal, () => stoppedOthers(tables, tickIds)),
    ticks: (name, filter, page, signal) => look(signal, () => ticks(tables, name, filter, page)),
    pruneTicks: (keepMs, limit, signal) => run(signal, () => pruneTicks(tables, keepMs, limit)),

    appendLogs: (chunks, signal) => run(signal, () => chunks.map((chunk) => appendLog(tables, chunk))),
    readLog: (request, signal) => look(signal, () => readLog(tables, request)),

    report: (reports, signal) => run(signal, () => reports.map((one) => report(tables, one))),
    checkpoint: (jobId, signal) => look(signal, () => checkpoint(tables, jobId)),

    queues: (signal) => look(signal, () => queues(tables)),
    setQueue: (name, settings, signal) => run(signal, () => setQueue(tables, name, settings)),
    registerWorker: (worker, signal) => run(signal, () => registerWorker(tables, worker)),
    workers: (signal) => look(signal, () => workers(tables)),
    drainWorker: (id, signal) => run(signal, () => drainWorker(tables, id)),
    leaveWorker: (id, signal) => run(signal, () => leaveWorker(tables, id)),

    addStats: (rows, signal) => run(signal, () => addStats(tables, rows)),
    stats: (range, signal) => look(signal, () => stats(tables, range)),
    createOperation: (wanted, signal) => run(signal, () => createOperation(tables, wanted)),
    operation: (id, signal) => look(signal, () => operation(tables, id)),
    openOperations: (signal) => look(signal, () => openOperations(tables)),
    advanceOperation: (id, from, step, signal) => run(signal, () => advanceOperation(tables, id, from, step)),

    lead: (request, signal) => run(signal, () => lead(tables, request)),
    resign: (instanceId, signal) => run(signal, () => resign(tables, instanceId)),
    duties: (signal) => look(signal, () => duties(tables)),
    fenced: (fence) => storeBy(runFenced(fence)),
    beatInstance: (instance, signal) => run(signal, () => beatInstance(tables, instance)),
    instances: (signal) => look(signal, () => instances(tables)),
    leaveInstance: (id, signal) => run(signal, () => leaveInstance(tables, id)),
    forgetInstances: (silentMs, signal) => run(signal, () => forgetInstances(tables, silentMs)),

    subscribe: (listener) => tables.hints.subscribe(listener),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  });
  return storeBy(look);
}
