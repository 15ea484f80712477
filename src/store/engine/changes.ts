/**
 * Writes changes whose jobs still match their fences. All jobs of a call are locked first, then checked and written in a
 * later statement, which sees all that the locks had to wait for.
 */

import type { Fence } from '../../core/fence.ts';
import type { MemberSuccess } from '../../core/gang.ts';
import type { Counters, Job } from '../../core/job.ts';
import type { LeaseRef } from '../../core/lease.ts';
import { type Change, giveBack } from '../../core/transition.ts';
import { FLAG } from '../flags.ts';
import { columns } from '../sql/columns.ts';
import { after, alsoAnyOf, anyOf, type Fragment, msOf, now, raw, spelled, sql } from '../sql/sql.ts';
import { many, type Tx } from '../sql/tx.ts';
import { lockAffected } from './graph/lock-affected.ts';
import { reopen } from './graph/reopen.ts';
import { readJobs } from './reads.ts';
import { counter, listed, statusOf } from './standing.ts';
import { awaitSteps } from './steps.ts';

type LiveChange = Exclude<Change, { kind: 'reopen' }>;

/** A change with its fence. */
interface ChangeRow extends Counters, Pick<Fence, 'jobId' | 'status' | 'attempt' | 'workerId' | 'cancelRequested'> {
  kind: LiveChange['kind'];
  gangStop: boolean;
  /** `null`: whenever the worker was heard of. */
  seenAt: number | null;
  toStatus: string | null;
  toFailures: number;
  toInterruptions: number;
  toSnoozes: number;
  toLosses: number;
  delayMs: number;
  dropFlags: number;
  addFlags: number;
  reason: string | null;
  /** `null`: the job ends without an attempt. */
  outcome: string | null;
  exitCode: number | null;
  signal: string | null;
  error: string | null;
  thrown: unknown;
  cpuMs: number | null;
  maxRss: number | null;
  result: unknown;
}

/** A change that still matches, and what its live row was before. */
interface Held extends ChangeRow {
  due: number;
  startedAt: number | null;
  flags: number;
  cancelRequestedAt: number | null;
  heldBy: number | null;
  now: number;
}

type Written = Pick<Held, 'jobId' | 'flags' | 'heldBy' | 'now'>;

const changeRow = columns<ChangeRow>({
  jobId: 'bigint',
  kind: 'text',
  status: 'text',
  attempt: 'int',
  workerId: 'int',
  cancelRequested: 'bool',
  gangStop: 'bool',
  failures: 'int',
  interruptions: 'int',
  snoozes: 'int',
  losses: 'int',
  seenAt: 'real',
  toStatus: 'text',
  toFailures: 'int',
  toInterruptions: 'int',
  toSnoozes: 'int',
  toLosses: 'int',
  delayMs: 'bigint',
  dropFlags: 'int',
  addFlags: 'int',
  reason: 'text',
  outcome: 'text',
  exitCode: 'int',
  signal: 'text',
  error: 'text',
  thrown: 'json',
  cpuMs: 'bigint',
  maxRss: 'bigint',
  result: 'json',
});
const heldRow = changeRow.with<Held>({
  due: 'instant',
  startedAt: 'instant',
  flags: 'int',
  cancelRequestedAt: 'instant',
  heldBy: 'int',
  now: 'instant',
});
const writtenRow = columns<Written>({ jobId: 'bigint', flags: 'int', heldBy: 'int', now: 'instant' });
const successRow = columns<{ jobId: number; success: MemberSuccess }>({ jobId: 'bigint', success: 'json' });

export async function applyChanges(tx: Tx, asked: readonly Change[]): Promise<(Job | undefined)[]> {
  // The state that a second change of a job expects is no longer there after the first.
  const changes = [...Map.groupBy(asked, ({ fence }) => fence.jobId).values()].map(([first]) => first as Change);
  const those = (...kinds: Change['kind'][]) =>
    changes.filter(({ kind }) => kinds.includes(kind)).map(({ fence }) => fence.jobId);
  if (changes.length === 0) return [];
  await lockAffected(tx, { ends: those('end'), retries: those('reopen'), others: those('requeue', 'flag', 'hold') });
  const live = await changeLive(
    tx,
    changes.filter((change) => change.kind !== 'reopen'),
  );
  for (const change of changes) {
    if (change.kind === 'requeue' && change.awaits !== undefined && live.has(change.fence.jobId))
      await awaitSteps(tx, change.fence.jobId, change.awaits);
  }
  const reopened = await reopen(
    tx,
    changes.filter((change) => change.kind === 'reopen'),
  );
  const jobs = new Map((await readJobs(tx, [...live.keys(), ...reopened])).map((job) => [job.id, job]));
  const written = changes.filter(({ fence }) => jobs.has(fence.jobId));
  for (const change of written) if (change.kind !== 'reopen') note(tx, change, live.get(change.fence.jobId) as Written);
  await tx.graphUpdate.write(tx);
  await changePlaces(tx, written, jobs);
  const answers = new Map(written.map((change) => [change, jobs.get(change.fence.jobId)]));
  return asked.map((change) => {
    const job = answers.get(change);
    answers.delete(change);
    return job;
  });
}

/** Gives back jobs that a worker never received. Those that have changed meanwhile are left as they are. */
export async function takeBack(tx: Tx, workerId: number, missed: readonly LeaseRef[]): Promise<LeaseRef[]> {
  const attempts = new Map(missed.map(({ jobId, attempt }) => [jobId, attempt]));
  const held = (await readJobs(tx, [...attempts.keys()])).filter(
    (job) => job.status === 'running' && job.workerId === workerId && job.attempt === attempts.get(job.id),
  );
  const written = await applyChanges(tx, giveBack(held));
  return written.flatMap((job) => (job === undefined ? [] : [{ jobId: job.id, attempt: job.attempt }]));
}

/** The attempt is over: another claim may take the job, or others in its place. */
const unclaimed = spelled({ sqlite: raw('claim_seq = null'), postgres: raw('claimed = false') });
const counters = sql`${counter('held.to_failures')}, ${counter('held.to_interruptions')}, ${counter('held.to_snoozes')}, ${counter('held.to_losses')}`;
const newFlags = raw('live.flags & ~held.drop_flags | held.add_flags');
const GROUP = raw(String(FLAG.group));

/** The statements that write the rows `held`, by the kind of change. */
const WRITES: Readonly<Record<LiveChange['kind'], readonly Fragment[]>> = {
  flag: [
    sql`update live set cancel_requested_at = held.now, flags = ${newFlags} from held
      where live.job_id = held.job_id and held.kind = 'flag'`,
    sql`update job_group set needs_items = true where job_id in (
      select held.job_id from held where held.kind = 'flag' and held.flags & ${GROUP} <> 0)`,
  ],
  hold: [
    sql`update live set ${listed} = 'blocked', ${unclaimed}, renewed_at = null from held
      where live.job_id = held.job_id and held.kind = 'hold'`,
  ],
  requeue: [
    sql`insert into run (job_id, attempt, outcome, worker_id, started_at, ended_at, exit_code, signal, error, thrown, cpu_ms, max_rss)
      select job_id, attempt, outcome, held_by, coalesce(started_at, now), now, exit_code, signal, error, thrown, cpu_ms, max_rss
      from held where kind = 'requeue'`,
    sql`update live set ${listed} = held.to_status, ${unclaimed}, renewed_at = null, cancel_requested_at = null,
        due = case when held.delay_ms = 0 then live.due else ${after(raw('held.now'), raw('held.delay_ms'))} end,
        failures = ${counter('held.to_failures')}, interruptions = ${counter('held.to_interruptions')},
        snoozes = ${counter('held.to_snoozes')}, losses = ${counter('held.to_losses')}, flags = ${newFlags},
        expires_at = case when held.outcome = 'returned' then live.expires_at end
      from held where live.job_id = held.job_id and held.kind = 'requeue'`,
  ],
  end: [
    sql`insert into run (job_id, attempt, status, reason, outcome, worker_id, started_at, ended_at, due, exit_code, signal, error,
        thrown, cpu_ms, max_rss, attempts, cancel_requested_at, failures, interruptions, snoozes, losses)
      select job_id, case when outcome is null then 0 else attempt end, to_status, reason, coalesce(outcome, to_status), held_by,
        started_at, now, due, exit_code, signal, error, thrown, cpu_ms, max_rss, attempt, cancel_requested_at, ${counters}
      from held where kind = 'end'`,
    sql`insert into result (job_id, value) select job_id, result from held where kind = 'end' and result is not null`,
    sql`delete from live where job_id in (select held.job_id from held where held.kind = 'end')`,
  ],
};

/** Returns the changes that still matched, by job; their jobs are locked. */
async function changeLive(tx: Tx, changes: readonly LiveChange[]): Promise<Map<number, Written>> {
  if (changes.length === 0) return new Map();
  const ids = changes.map(({ fence }) => fence.jobId);
  const matching = sql`select i.*, l.due, l.started_at, l.flags, l.cancel_requested_at, l.worker_id as held_by, ${now} as now
    from ${changeRow.input(changes.map(rowOf))} i join live l on l.job_id = i.job_id ${alsoAnyOf('l.job_id', ids)}
      left join worker w on w.id = l.worker_id
    where ${statusOf('l')} = i.status and l.attempt = i.attempt
      and (i.status <> 'running' or l.worker_id is not distinct from i.worker_id)
      and (l.cancel_requested_at is not null) = i.cancel_requested
      and coalesce(l.failures, 0) = i.failures and coalesce(l.interruptions, 0) = i.interruptions
      and coalesce(l.snoozes, 0) = i.snoozes and coalesce(l.losses, 0) = i.losses
      and (l.flags & ${raw(String(FLAG.gangStop))} <> 0) = i.gang_stop
      and (i.seen_at is null or i.seen_at = coalesce(${msOf('w.seen_at')}, 0))`;
  const kinds = [...new Set(changes.map(({ kind }) => kind))].sort();
  const writes = kinds.flatMap((kind) => WRITES[kind]);
  const written = await tx.writeHeld({ held: heldRow, matching, writes, answer: writtenRow });
  return new Map(written.map((row) => [row.jobId, row]));
}

function rowOf(change: LiveChange): ChangeRow {
  const { jobId, status, attempt, workerId, cancelRequested, gangStop, workerSeenAt, counters } = change.fence;
  const { counters: to = counters } = 'counters' in change ? change : {};
  const record = 'record' in change ? change.record : null;
  return {
    jobId,
    kind: change.kind,
    status,
    attempt,
    workerId,
    cancelRequested,
    gangStop,
    ...counters,
    seenAt: workerSeenAt ?? null,
    toStatus: change.kind === 'end' ? change.status : isDelayed(change) ? 'scheduled' : 'pending',
    toFailures: to.failures,
    toInterruptions: to.interruptions,
    toSnoozes: to.snoozes,
    toLosses: to.losses,
    delayMs: change.kind === 'requeue' ? Math.round(change.delayMs) : 0,
    ...flagsOf(change),
    reason: change.kind === 'end' ? change.reason : null,
    outcome: record?.outcome ?? null,
    exitCode: record?.exitCode ?? null,
    signal: record?.signal ?? null,
    error: change.kind === 'end' ? change.error : (record?.error ?? null),
    thrown: record?.thrown ?? null,
    cpuMs: record?.usage?.cpuMs ?? null,
    maxRss: record?.usage?.maxRssBytes ?? null,
    result: change.kind === 'end' ? (change.result ?? null) : null,
  };
}

function isDelayed(change: LiveChange): boolean {
  return change.kind === 'requeue' && change.delayMs !== 0;
}

function flagsOf(change: LiveChange): Pick<ChangeRow, 'dropFlags' | 'addFlags'> {
  if (change.kind === 'flag') {
    const { keepChildren, gangStop } = change;
    const addFlags = (keepChildren ? FLAG.keepChildren : 0) | (gangStop ? FLAG.gangStop : 0);
    return { dropFlags: FLAG.gangStop, addFlags };
  }
  const suspect = change.kind === 'requeue' ? change.suspect : undefined;
  const isSuspended = change.kind === 'requeue' && change.awaits !== undefined;
  const dropFlags = FLAG.gangStop | FLAG.suspended | (suspect === false ? FLAG.suspect : 0);
  return { dropFlags, addFlags: (suspect === true ? FLAG.suspect : 0) | (isSuspended ? FLAG.suspended : 0) };
}

/** Records what follows from a change, and what has to be announced of it. */
function note({ effects, graphUpdate }: Tx, change: LiveChange, { flags, heldBy, now: instant }: Written): void {
  const { jobId, attempt } = change.fence;
  effects.changedJob(jobId);
  graphUpdate.at(instant);
  if (change.kind === 'flag') {
    if (flags & FLAG.group) effects.changedGraph();
    else if (heldBy !== null) effects.changedWorker(heldBy);
    return;
  }
  effects.endedAttempt({ jobId, attempt });
  if (change.kind === 'end') {
    const kept = change.keepChildren ? FLAG.keepChildren : 0;
    graphUpdate.ended([{ jobId, flags: flags | kept, status: change.status }]);
  }
  if (change.kind === 'requeue') {
    const status = isDelayed(change) ? 'scheduled' : 'pending';
    graphUpdate.jobIs(jobId, { status, due: instant + Math.round(change.delayMs) });
    graphUpdate.attemptEnded(jobId, { flags, returned: change.record.outcome === 'returned' });
  }
}

/** The places of gangs are locked last. Those of members that a person retries are lost; successes that wait for others are kept there. */
async function changePlaces(tx: Tx, written: readonly Change[], jobs: ReadonlyMap<number, Job>): Promise<void> {
  const held = written.flatMap((change) => {
    if (change.kind !== 'hold') return [];
    const { exitCode, result = null, usage } = change.success;
    return [{ jobId: change.fence.jobId, success: { exitCode, result, usage } }];
  });
  if (held.length > 0) {
    await tx.run(
      sql`update place set success = i.success from ${successRow.input(held)} i where place.job_id = i.job_id`,
    );
  }
  const retried = written.filter(({ kind, fence }) => kind === 'reopen' && jobs.get(fence.jobId)?.gang != null);
  if (retried.length > 0) {
    await tx.run(sql`delete from place where job_id ${anyOf(retried.map(({ fence }) => fence.jobId))}`);
  }
}

export const changeMethods = { applyChanges: many('write', applyChanges) };
