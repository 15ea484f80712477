/** Jobs in a PostgreSQL database, in a schema of their own, for any number of processes. */

import { randomUUID } from 'node:crypto';
import { WorkronError } from '../../../core/error.ts';
import { NEVER } from '../../../core/never.ts';
import type { Log } from '../../../ops/log.ts';
import type { Store } from '../../store.ts';
import { beatInstance, forgetInstances, instances, leaveInstance } from '../cluster/instances.ts';
import { beginFenced, Leadership } from '../cluster/leadership.ts';
import { deliver, notices, notifications, postponeNotice } from '../cluster/notices.ts';
import { advanceOperation, createOperation, openOperations, operation } from '../cluster/operations.ts';
import { Pruner } from '../cluster/prune.ts';
import { queues, setQueue } from '../cluster/queues.ts';
import { addStats, stats } from '../cluster/stats.ts';
import { drainWorker, leaveWorker, registerWorker, retireWorkers, workers } from '../cluster/workers.ts';
import { adopt } from '../graph/adopt.ts';
import { cascade } from '../graph/cascade.ts';
import { complete, enlist } from '../graph/enlist.ts';
import { expand } from '../graph/expand.ts';
import { graphWork } from '../graph/graph-work.ts';
import { insertWorkflow } from '../graph/insert-workflow.ts';
import { LinkedClaims } from '../graph/linked-claims.ts';
import { RecentSuccesses } from '../graph/recent-successes.ts';
import { steps, workflow, workflows } from '../graph/workflows.ts';
import { applyChanges } from '../jobs/apply-changes.ts';
import { claim } from '../jobs/claim.ts';
import { findExpired, findLost, findUnlocked, promote } from '../jobs/duties.ts';
import { edit } from '../jobs/edit.ts';
import { heartbeat } from '../jobs/heartbeat.ts';
import { insert } from '../jobs/insert.ts';
import { insertAndClaim } from '../jobs/insert-and-claim.ts';
import { Lanes } from '../jobs/lanes.ts';
import { appendLogs, readLog } from '../jobs/logs.ts';
import { checkpoint, report } from '../jobs/progress.ts';
import { settle, start } from '../jobs/settle.ts';
import { FairQueues } from '../jobs/turns.ts';
import { Waiting } from '../jobs/waiting.ts';
import { attempts, count, countAhead, list, read } from '../reads/reading.ts';
import { changeSchedule } from '../schedules/change.ts';
import { pruneTicks, runSchedule, ticks, ticksWithoutRun } from '../schedules/run-schedule.ts';
import { createSchedule, deleteSchedule, schedule, schedules } from '../schedules/schedules.ts';
import { stoppedOthers, tick } from '../schedules/tick.ts';
import type { Context } from './context.ts';
import { Database } from './database.ts';
import { DirectSession } from './direct-session.ts';
import { Hints } from './hints.ts';
import { postgresLeaseKeeper } from './lease-keeper.ts';
import { migrate, requireMigrated } from './migrate.ts';
import { statements } from './sql.ts';

export interface PostgresOptions {
  url: string;
  /** Two installations in one database have two schemas. */
  schema?: string;
  /** Connections for calls; two more are for heartbeats and for listening. */
  poolSize?: number;
  /** A way to the database that is no transaction pooler, for locks, LISTEN and migrations. */
  directUrl?: string;
  /** Brings the schema up to date; without it, one that is not is refused with `store_unavailable`. */
  migrate?: boolean;
  log: Log;
}

export const DEFAULT_SCHEMA = 'workron';
const DEFAULT_POOL_SIZE = 10;
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Resolves once the database answered and its schema is up to date. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { url, schema = DEFAULT_SCHEMA, poolSize = DEFAULT_POOL_SIZE, log } = options;
  const directUrl = options.directUrl ?? url;
  if (!SCHEMA_NAME.test(schema)) {
    throw new WorkronError('bad_request', `The schema's name must match ${SCHEMA_NAME.source}, not ${schema}`);
  }
  await ((options.migrate ?? true) ? migrate : requireMigrated)({ url: directUrl, schema });

  const sql = statements(schema);
  const database = Database.open({ url, poolSize, log });
  const [meta] = await database
    .query<{ lock_space: number; folds: boolean }>(sql.meta, [], NEVER)
    .catch(async (error: unknown) => {
      await database[Symbol.asyncDispose]();
      throw error;
    });
  const lockSpace = meta?.lock_space ?? 0;
  const channel = `workron_${lockSpace}`;
  const instanceId = randomUUID();

  const hints = new Hints({
    instanceId,
    log,
    listen: () => direct.listen(),
    send: async (text, onlyWaiting) => {
      if (onlyWaiting) await database.query(sql.notifyWaiting, [channel, text, instanceId], NEVER);
      else await database.query(sql.notify, [channel, text], NEVER);
    },
  });
  const direct = new DirectSession({
    url: directUrl,
    channel,
    lockSpace,
    log,
    onNotification: (text) => hints.receive(text),
    onResumed: () => hints.receiveAnything(),
    onEnded: () => {
      leadership.forgetLocks();
      hints.tellLeadershipLost();
    },
  });
  const fairQueues = new FairQueues();
  const lanes = new Lanes(database, sql, fairQueues);
  const own: Context = {
    schema: `"${schema}"`,
    folds: meta?.folds ?? false,
    database,
    sql,
    hints,
    linkedClaims: new LinkedClaims(),
    recentSuccesses: new RecentSuccesses(),
    lanes,
    fairQueues,
  };
  const leadership = new Leadership({ database, direct, sql, lockSpace, log });
  const waiting = new Waiting(database, sql, instanceId);

  const storeOn = (context: Context, pruner = new Pruner(context)): Store => ({
    driver: 'postgres',
    location: locationOf(url, schema),
    exclusive: false,
    leaseKeeper: postgresLeaseKeeper({ url, schema }),
    transactional: {
      enlist: (run, jobs, signal) => enlist(context, run, jobs, signal),
      complete: (run, success) => complete(context, run, success),
    },
    now: async (signal) => {
      const [row] = await database.query<{ now: number }>(sql.now, [], signal);
      return row?.now as number;
    },
    deadlocks: () => database.deadlocks,

    insert: (jobs, insertOptions, signal) => insert(context, jobs, insertOptions, signal),
    insertAndClaim: (jobs, request, signal) => insertAndClaim(context, jobs, request, signal),
    claim: (request, signal) => claim(context, waiting, request, signal),
    start: (starts, signal) => start(context, starts, signal),
    heartbeat: (beat, signal) => heartbeat(context, beat, signal),
    settle: (successes, signal) => settle(context, successes, signal),
    applyChanges: (changes, signal) => applyChanges(context, changes, signal),
    edit: (jobId, wanted, signal) => edit(context, jobId, wanted, signal),

    promote: (limit, signal) => promote(context, limit, signal),
    findExpired: (limit, signal) => findExpired(context, limit, signal),
    findLost: (request, signal) => findLost(context, request, signal),
    findUnlocked: (signal) => findUnlocked(context, signal),
    graphWork: (signal) => graphWork(context, signal),
    cascade: (limit, signal) => cascade(context, limit, signal),
    expand: (limit, signal) => expand(context, limit, signal),
    adopt: (limit, signal) => adopt(context, limit, signal),
    retireWorkers: (forgetAfterMs, signal) => retireWorkers(context, forgetAfterMs, signal),
    prune: (retention, limit, signal) => pruner.prune(retention, limit, signal),

    notices: (limit, signal) => notices(context, limit, signal),
    deliver: (noticeId, delivery, signal) => deliver(context, noticeId, delivery, signal),
    postponeNotice: (noticeId, forMs, signal) => postponeNotice(context, noticeId, forMs, signal),
    notifications: (about, signal) => notifications(context, about, signal),

    read: (ids, signal) => read(context, ids, signal),
    list: (filter, page, signal) => list(context, filter, page, signal),
    count: (filter, atMost, signal) => count(context, filter, atMost, signal),
    attempts: (jobId, signal) => attempts(context, jobId, signal),
    countAhead: (jobId, atMost, signal) => countAhead(context, jobId, atMost, signal),

    insertWorkflow: (wanted, insertOptions, signal) => insertWorkflow(context, wanted, insertOptions, signal),
    workflow: (id, signal) => workflow(context, id, signal),
    workflows: (filter, page, signal) => workflows(context, filter, page, signal),
    steps: (workflowId, signal, page) => steps(context, workflowId, signal, page),

    createSchedule: (wanted, signal) => createSchedule(context, wanted, signal),
    changeSchedule: (name, request, signal) => changeSchedule(context, { name, request }, signal),
    deleteSchedule: (name, signal) => deleteSchedule(context, name, signal),
    schedule: (name, signal) => schedule(context, name, signal),
    schedules: (filter, page, signal) => schedules(context, filter, page, signal),
    runSchedule: (name, request, runOptions, signal) =>
      runSchedule(context, { name, request, options: runOptions }, signal),
    ticksWithoutRun: (name, request, signal) => ticksWithoutRun(context, { name, ...request }, signal),
    tick: (request, signal) => tick(context, request, signal),
    stoppedOthers: (tickIds, signal) => stoppedOthers(context, tickIds, signal),
    ticks: (name, filter, page, signal) => ticks(context, { name, filter, ...page }, signal),
    pruneTicks: (keepMs, limit, signal) => pruneTicks(context, { keepMs, limit }, signal),

    appendLogs: (chunks, signal) => appendLogs(context, chunks, signal),
    readLog: (request, signal) => readLog(context, request, signal),

    report: (reports, signal) => report(context, reports, signal),
    checkpoint: (jobId, signal) => checkpoint(context, jobId, signal),

    queues: (signal) => queues(context, null, signal),
    setQueue: (name, settings, signal) => setQueue(context, name, settings, signal),
    registerWorker: (worker, signal) => registerWorker(context, direct, worker, signal),
    workers: (signal) => workers(context, null, signal),
    drainWorker: (id, signal) => drainWorker(context, id, signal),
    leaveWorker: (id, signal) => leaveWorker(context, direct, id, signal),

    addStats: (rows, signal) => addStats(context, rows, signal),
    stats: (range, signal) => stats(context, range, signal),
    createOperation: (wanted, signal) => createOperation(context, wanted, signal),
    operation: (id, signal) => operation(context, id, signal),
    openOperations: (signal) => openOperations(context, signal),
    advanceOperation: (id, from, step, signal) => advanceOperation(context, { id, from, step }, signal),

    lead: (request, signal) => leadership.lead(request, signal),
    resign: (instance, signal) => leadership.resign(instance, signal),
    duties: (signal) => leadership.duties(signal),
    fenced: (fence) => storeOn({ ...context, database: database.beginning(beginFenced(context.schema, fence)) }),
    beatInstance: (instance, signal) => beatInstance(context, instance, signal),
    instances: (signal) => instances(context, signal),
    leaveInstance: (id, signal) => leaveInstance(context, id, signal),
    forgetInstances: (silentMs, signal) => forgetInstances(context, silentMs, signal),

    subscribe: (listener) => hints.subscribe(listener),
    async [Symbol.asyncDispose]() {
      await hints[Symbol.asyncDispose]();
      await direct[Symbol.asyncDispose]();
      await waiting.end(NEVER).catch(() => undefined);
      await database[Symbol.asyncDispose]();
    },
  });
  return storeOn(own);
}

/** The address without its password. */
function locationOf(url: string, schema: string): string {
  if (!URL.canParse(url)) return `PostgreSQL, schema ${schema}`;
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname} (schema ${schema})`;
}
