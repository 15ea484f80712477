/**
 * Jobs in a transaction of the application's own, on another connection to the same file. Each call is a sequence of
 * statements. A connection that answers at once gets all of them in one turn, as its transaction may end in this turn.
 */

import type { Clock } from '../../../core/clock.ts';
import { WorkronError } from '../../../core/error.ts';
import type { NewJob } from '../../../core/job.ts';
import type { Success } from '../../../core/lease.ts';
import type { Unique } from '../../../core/unique.ts';
import { FLAG, LINKED, specFlags } from '../../flags.ts';
import { keyHeld, refuseReplace, unknownParents } from '../../refusals.ts';
import { encodeSpec } from '../../spec.ts';
import type { Enlisted, RunStatement, Transactional } from '../../transactional.ts';
import { DatabaseSync } from '../base/node-sqlite.ts';
import { sql } from '../base/sql.ts';

/** Jobs are judged after the commit, because only the writer's thread knows the lanes. */
export function transactional(clock: Clock): Transactional {
  return {
    enlist: async (run, jobs) => inOrder(enlist(jobs, clock), run),
    complete: async (run, success) => inOrder(complete(success, clock.now()), run),
  };
}

/** Yields statements, gets their rows, and returns the answer. */
type Statements<T> = Generator<[text: string, values: readonly unknown[]], T, readonly unknown[]>;

function inOrder<T>(statements: Statements<T>, run: RunStatement): T | Promise<T> {
  let step = statements.next();
  while (!step.done) {
    const rows = run(...step.value);
    if (!Array.isArray(rows)) return inOrderLater(statements, run, rows as PromiseLike<readonly unknown[]>);
    step = statements.next(rows);
  }
  return step.value;
}

async function inOrderLater<T>(
  statements: Statements<T>,
  run: RunStatement,
  first: PromiseLike<readonly unknown[]>,
): Promise<T> {
  let step = statements.next(await first);
  while (!step.done) step = statements.next(await run(...step.value));
  return step.value;
}

function* enlist(jobs: readonly NewJob[], clock: Clock): Statements<Enlisted[]> {
  yield* requireSameBuild();
  for (const { unique } of jobs) refuseReplace(unique);
  yield* requireParents(jobs);
  const enlisted: Enlisted[] = [];
  for (const job of jobs) enlisted.push(yield* enlistOne(job, clock.now()));
  return enlisted;
}

const BUILD = `select sqlite_source_id() || coalesce((select group_concat(compile_options) from pragma_compile_options), '') as build`;
let ownBuild: unknown;

/**
 * Refuses a connection through another build of SQLite, such as that of better-sqlite3. SQLite's locks belong to the
 * process: two builds in one process both get the write lock at once, and commits are lost.
 */
function* requireSameBuild(): Statements<void> {
  if (ownBuild === undefined) {
    using own = new DatabaseSync(':memory:');
    ownBuild = own.prepare(BUILD).get()?.['build'];
  }
  const [row] = (yield [BUILD, []]) as { build: unknown }[];
  if (row?.build === ownBuild) return;
  throw new WorkronError(
    'bad_request',
    'tx: the connection uses another build of SQLite than Workron; two builds in one process do not see the locks of ' +
      'each other and lose writes, so use node:sqlite',
  );
}

// Drivers disagree on `?1`.
const ENLIST_JOB = `insert into job (queue, kind, name, priority, tags, created_at, spec) values (?, ?, ?, ?, ?, ?, ?)
  returning id`;
const ENLIST_LIVE = `insert into live (job_id, status, lane, rank, due, flags) values (?, 'blocked', 0, ?, ?, ?)`;
const ENLIST_INTAKE = 'insert into intake (job_id, kind, request) values (?, ?, ?)';

function* enlistOne(job: NewJob, now: number): Statements<Enlisted> {
  const { unique } = job;
  if (unique !== null) {
    const [holder] = (yield [sql.keyHolders, [unique.key, now]]) as { job_id: number }[];
    if (holder !== undefined) return taken(unique, holder.job_id);
  }
  const { queue, kind, name, priority, tags, spec } = encodeSpec(job);
  const stored = JSON.stringify(unique === null ? spec : { ...spec, unique_key: unique.key });
  const values = [queue, kind, name, priority, JSON.stringify(tags), now, stored];
  const [row] = (yield [ENLIST_JOB, values]) as { id: number }[];
  const id = Number(row?.id);
  const due = Math.max(now, Math.round(job.runAt ?? now + (job.delayMs ?? 0)));
  const holdsKey = unique !== null && typeof unique.while !== 'number';
  yield [ENLIST_LIVE, [id, -priority, due, FLAG.unjudged | specFlags(job) | (holdsKey ? FLAG.holdsKey : 0)]];
  yield [
    ENLIST_INTAKE,
    [id, 'submitted', JSON.stringify({ depends_on: job.dependsOn.map(({ jobId, condition }) => [jobId, condition]) })],
  ];
  if (unique !== null) {
    const [hold, until] = typeof unique.while === 'number' ? ['time', now + unique.while] : [unique.while, null];
    yield [sql.giveKeys, [unique.key, id, hold, until]];
  }
  return { id, deduplicated: false };
}

function taken({ key, onConflict }: Unique, jobId: number): Enlisted {
  if (onConflict !== 'reject') return { id: jobId, deduplicated: true };
  throw keyHeld(key, jobId);
}

function* requireParents(jobs: readonly NewJob[]): Statements<void> {
  const ids = [...new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)))];
  if (ids.length === 0) return;
  const rows = yield ['select id from job where id in (select value from json_each(?))', [JSON.stringify(ids)]];
  const known = new Set((rows as { id: number }[]).map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw unknownParents(unknown.sort((a, b) => a - b));
}

const COMPLETE_LIVE = `delete from live
  where job_id = ? and attempt = ? and worker_id = ? and status = 'running' and flags & ${FLAG.member} = 0
  returning flags, started_at, due, failures, interruptions, snoozes, losses, cancel_requested_at`;
const COMPLETE_RUN = `insert into run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, attempts,
    failures, interruptions, snoozes, losses, cancel_requested_at)
  values (?, ?, 'done', 'done', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const COMPLETE_KEYS = `delete from unique_key where job_id = ? and hold <> 'time'`;

interface GoneRow {
  flags: number;
  /** `null` if no start was reported. */
  started_at: number | null;
  due: number;
  failures: number;
  interruptions: number;
  snoozes: number;
  losses: number;
  cancel_requested_at: number | null;
}

function* complete(success: Success, now: number): Statements<void> {
  yield* requireSameBuild();
  const { jobId, attempt, workerId, result } = success;
  const [gone] = (yield [COMPLETE_LIVE, [jobId, attempt, workerId]]) as GoneRow[];
  if (gone === undefined) {
    throw new WorkronError('lease_lost', `Attempt ${attempt} of job ${jobId} is no longer this worker's`, { jobId });
  }
  const { failures, interruptions, snoozes, losses } = gone;
  const counters = [failures, interruptions, snoozes, losses];
  const times = [gone.started_at ?? now, now, gone.due];
  yield [COMPLETE_RUN, [jobId, attempt, workerId, ...times, attempt, ...counters, gone.cancel_requested_at]];
  if (result !== undefined && result !== null) yield [sql.completeResult, [jobId, JSON.stringify(result)]];
  if (gone.flags & FLAG.holdsKey) yield [COMPLETE_KEYS, [jobId]];
  if (gone.flags & (LINKED | FLAG.group)) {
    yield [ENLIST_INTAKE, [jobId, 'ended', JSON.stringify({ flags: gone.flags })]];
  }
}
