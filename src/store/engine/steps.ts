/** The steps of durable functions: written under the fence of their attempt, and read when the job is claimed again. */

import {
  MAX_FAILURES_IN_ALL,
  recordStep,
  STEPS_PAGE_BYTES,
  type Step,
  type StepsPage,
  type StepTotals,
  type StepWrite,
  type StepWritten,
  type UnusedSteps,
} from '../../core/durable.ts';
import type { LeaseRef } from '../../core/lease.ts';
import { FLAG } from '../flags.ts';
import { columns } from '../sql/columns.ts';
import { anyOf, at, type Fragment, locking, now, raw, sql } from '../sql/sql.ts';
import { many, one, type Tx } from '../sql/tx.ts';
import { isRunning } from './standing.ts';

const step = columns<Step & { jobId: number }>({
  jobId: 'bigint',
  name: 'text',
  kind: 'text',
  seq: 'int',
  attempt: 'int',
  tries: 'int',
  startedAt: 'instant',
  endedAt: 'instant',
  until: 'instant',
  result: 'text',
  thrown: 'json',
});

type StepRow = Step & { jobId: number };
interface Durable extends StepTotals {
  jobId: number;
  firstDue: number;
  failures: number;
  unused: readonly string[] | null;
}

const durable = columns<Durable>({
  jobId: 'bigint',
  firstDue: 'instant',
  steps: 'int',
  bytes: 'bigint',
  seq: 'int',
  failures: 'int',
  unused: 'json',
});

interface Held {
  jobId: number;
  flags: number;
  due: number;
  /** The failures that count. */
  failures: number;
  interruptions: number;
}

const held = columns<Held>({ jobId: 'bigint', flags: 'int', due: 'instant', failures: 'int', interruptions: 'int' });

const jobRow = columns<{ jobId: number }>({ jobId: 'bigint' });

/** Locks the live row of an attempt, under which everything about its job's steps is read and written. */
async function lockHeld(
  tx: Tx,
  { jobId, attempt, workerId }: LeaseRef & { workerId: number },
): Promise<Held | undefined> {
  return await tx.get(
    held,
    sql`select l.job_id, l.flags, l.due, coalesce(l.failures, 0) as failures, coalesce(l.interruptions, 0) as interruptions
      from live l where l.job_id = ${jobId} and l.attempt = ${attempt} and l.worker_id = ${workerId} and ${isRunning('l')}
      ${locking('for no key update')}`,
  );
}

async function writeSteps(tx: Tx, writes: readonly StepWrite[]): Promise<StepWritten[]> {
  const answers = new Map<StepWrite, StepWritten>();
  // Sorted by id, as all transactions lock jobs.
  for (const write of writes.toSorted((a, b) => a.jobId - b.jobId)) answers.set(write, await writeStep(tx, write));
  return writes.map((write) => answers.get(write) as StepWritten);
}

async function writeStep(tx: Tx, write: StepWrite): Promise<StepWritten> {
  const live = await lockHeld(tx, write);
  if (live === undefined) return { refused: 'lease_lost' };
  const { jobId, name } = write;
  // In a later statement than the lock, so that it sees what other writes of the attempt have written.
  const before = await tx.get(durable, sql`select ${durable} from durable where job_id = ${jobId}`);
  const stored =
    before && (await tx.get(step, sql`select ${step} from step where job_id = ${jobId} and name = ${name}`));
  const totals = before ?? { steps: 0, bytes: 0, seq: 0 };
  const recorded = recordStep(write, { stored: stored && stepOf(stored), totals, now: await tx.instant() });
  if (!('totals' in recorded)) return recorded;
  await store(tx, { live, before, ...recorded });
  tx.effects.changedJob(jobId);
  return { step: recorded.step };
}

interface Recorded {
  live: Held;
  before: Durable | undefined;
  step: Step;
  totals: StepTotals;
}

/** A job whose step ends has all its attempts again: what counts are the failures since its newest step. */
async function store(tx: Tx, { live, before, step: own, totals }: Recorded): Promise<void> {
  const { jobId, flags, due, failures } = live;
  const { steps, bytes, seq } = totals;
  const inAll = (before?.failures ?? 0) + failures;
  const begins = own.endedAt !== null && (failures > 0 || live.interruptions > 0) && inAll < MAX_FAILURES_IN_ALL;
  const all = { steps, bytes, seq, failures: begins ? inAll : (before?.failures ?? 0) };
  const again: Fragment[] = [];
  if (begins || (flags & FLAG.hasSteps) === 0) {
    const counters = begins ? raw(', failures = 0, interruptions = 0, losses = 0') : raw('');
    again.push(sql`update live set flags = flags | ${raw(String(FLAG.hasSteps))}${counters} where job_id = ${jobId}`);
  }
  const { name: _, ...changed } = own;
  await tx.runTogether([
    sql`insert into step ${step.values({ ...own, jobId })} on conflict (job_id, name) do update set ${step.set(changed)}`,
    before === undefined
      ? sql`insert into durable ${durable.values({ jobId, firstDue: due, ...all })}`
      : sql`update durable set ${durable.set(all)} where job_id = ${jobId}`,
    ...again,
  ]);
}

/**
 * Makes a suspended job, which is locked, due when the first of these steps is over. One that has ended already makes it due at once, in
 * its first place.
 */
export async function awaitSteps(tx: Tx, jobId: number, names: readonly string[]): Promise<void> {
  const over = sql`select min(case when s.ended_at is null then s.until else d.first_due end) from step s
    join durable d on d.job_id = s.job_id where s.job_id = ${jobId} and s.name ${anyOf(names, 'text')}`;
  await tx.run(sql`update live set due = coalesce((${over}), due) where job_id = ${jobId}`);
}

/** Runs in the transaction of each read for a worker: a sleep that is over stays over, whatever the clock does later. */
async function claimSteps(tx: Tx, jobIds: readonly number[]): Promise<StepsPage[]> {
  await tx.lockRows(
    sql`select job_id from live where job_id ${anyOf(jobIds)} order by job_id ${locking('for no key update')}`,
  );
  const over = await tx.all(
    step,
    sql`select ${step} from step where job_id ${anyOf(jobIds)} and kind = 'sleep' and ended_at is null and until <= ${now}
      order by job_id, until, seq`,
  );
  for (const { jobId, name, until } of over) {
    await tx.run(sql`update durable set seq = seq + 1 where job_id = ${jobId}`);
    await tx.run(sql`update step set ended_at = ${at(until)}, seq = (select d.seq from durable d where d.job_id = ${jobId})
      where job_id = ${jobId} and name = ${name}`);
  }
  const pages: StepsPage[] = [];
  for (const jobId of jobIds) pages.push(await jobSteps(tx, jobId, 0));
  return pages;
}

const paged = step.with<StepRow & { last: number }>({ last: 'int' });

async function jobSteps(tx: Tx, jobId: number, after: number): Promise<StepsPage> {
  // Without the results, which would be read beyond the page.
  const rows = await tx.all(
    paged,
    sql`select ${step.of('s')}, (select max(m.seq) from step m where m.job_id = ${jobId}) as last from step s join (
        select name, sum(coalesce(octet_length(result), 0)) over (order by seq) as bytes, row_number() over (order by seq) as place
        from step where job_id = ${jobId} and seq > ${after}) p on p.name = s.name
      where s.job_id = ${jobId} and (p.bytes <= ${STEPS_PAGE_BYTES} or p.place = 1) order by s.seq`,
  );
  const end = rows.at(-1);
  return { steps: rows.map(stepOf), next: end === undefined || end.seq === end.last ? null : end.seq };
}

function stepOf(row: StepRow & { last?: number }): Step {
  const { jobId: _, last: __, ...step } = row;
  return step;
}

async function openSteps(tx: Tx, jobId: number): Promise<Step[]> {
  const rows = await tx.all(
    step,
    sql`select ${step} from step where job_id = ${jobId} and ended_at is null order by until, seq limit 100`,
  );
  return rows.map(stepOf);
}

async function noteUnused(tx: Tx, { names, ...lease }: UnusedSteps): Promise<boolean> {
  if ((await lockHeld(tx, lease)) === undefined) return false;
  await tx.run(sql`update durable set ${durable.set({ unused: names })} where job_id = ${lease.jobId}`);
  return true;
}

async function forgetFailedSteps(tx: Tx, jobIds: readonly number[]): Promise<number> {
  const gone = await tx.all(
    jobRow,
    sql`delete from step where job_id ${anyOf(jobIds)} and thrown is not null
      and not exists (select 1 from live l where l.job_id = step.job_id) returning job_id`,
  );
  for (const { jobId } of gone) await tx.run(sql`update durable set steps = steps - 1 where job_id = ${jobId}`);
  return gone.length;
}

export const stepMethods = {
  writeSteps: many('write', writeSteps),
  claimSteps: many('write', claimSteps),
  jobSteps: one('urgent', jobSteps),
  openSteps: one('urgent', openSteps),
  noteUnused: many('write', noteUnused),
  forgetFailedSteps: many('write', forgetFailedSteps),
};
