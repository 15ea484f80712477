/** Settles attempts. Successes take a fast path; all other outcomes are read, decided and written under their fence. */

import { recordOf } from '../../core/attempt-end.ts';
import { needsAll } from '../../core/gang.ts';
import type { Job } from '../../core/job.ts';
import type { Settled, Start, Success } from '../../core/lease.ts';
import type { Outcome, Settlement } from '../../core/outcome.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

export type SettleAnswer = 'ok' | 'lease_lost';

/** Returns, in order, `ok` if accepted now or before, `lease_lost` if the attempt is no longer this worker's. */
export async function settle(
  context: SchedulerContext,
  settlements: readonly Settlement[],
  signal: AbortSignal,
): Promise<SettleAnswer[]> {
  const answers: SettleAnswer[] = [];
  const successes: Success[] = [];
  /** Indexes of successes and of other outcomes in `settlements`. */
  const successIndexes: number[] = [];
  const others: number[] = [];
  const starts: Start[] = [];
  for (const { jobId, attempt, workerId, startedAt, outcome } of settlements) {
    const index = answers.push('lease_lost') - 1;
    if (outcome.type === 'succeeded') {
      successIndexes.push(index);
      const { exitCode, result, usage } = outcome;
      successes.push({ jobId, attempt, workerId, exitCode, startedAt, result, usage });
    } else {
      others.push(index);
      if (startedAt !== undefined) starts.push({ jobId, attempt, workerId, startedAt });
    }
  }
  if (successes.length > 0) {
    const settled = await context.store.settle(successes, signal);
    context.telemetry.settled(settled, successes);
    if (context.telemetry.log.isReadFor) void logDone(context, successes, settled);
    successIndexes.forEach((index, position) => (answers[index] = settled[position]?.result ?? 'lease_lost'));
    if (settled.some(({ result }) => result === 'lease_lost')) {
      const members = successIndexes.filter((_, position) => settled[position]?.result === 'lease_lost');
      await settleMembers(context, settlements, { others: members, answers, signal });
    }
  }
  if (starts.length > 0) await context.store.start(starts, signal);
  if (others.length > 0) await settleOthers(context, settlements, { others, answers, signal });
  context.telemetry.leaseLost(answers.reduce((count, answer) => (answer === 'lease_lost' ? count + 1 : count), 0));
  return answers;
}

/** Successes that the store has not accepted: of members of gangs, which are decided on, or of leases that are lost. */
async function settleMembers(
  context: SchedulerContext,
  settlements: readonly Settlement[],
  { others, answers, signal }: Others,
): Promise<void> {
  const reports = others.map((index) => ({ index, settlement: settlements[index] as Settlement }));
  const ids = reports.map(({ settlement }) => settlement.jobId);
  const jobs = new Map((await context.store.read(ids, signal)).map((job) => [job.id, job]));
  for (const { index, settlement } of reports) {
    const { jobId, attempt, workerId, outcome, startedAt } = settlement;
    const job = jobs.get(jobId);
    if (job === undefined || !needsAll(job) || outcome.type !== 'succeeded') continue;
    if (startedAt !== undefined) await context.store.start([{ jobId, attempt, workerId, startedAt }], signal);
    const success = { exitCode: outcome.exitCode, result: outcome.result ?? null, usage: outcome.usage };
    const eventFor = (now: Job) => (holds(now, settlement) ? { type: 'succeed' as const, success } : undefined);
    const [decision] = await decide(context, [jobId], eventFor, signal);
    const isHeld = decision?.type === 'unchanged' && isHeldFor(decision.job, settlement);
    const isAccepted = decision?.type === 'changed' || isHeld || (await wasSettledBefore(context, settlement, signal));
    answers[index] = isAccepted ? 'ok' : 'lease_lost';
  }
}

/** True if the success of this attempt waits for the other members. */
function isHeldFor(job: Job, settlement: Settlement): boolean {
  return needsAll(job) && job.status === 'blocked' && holds({ ...job, status: 'running' }, settlement);
}

const LOG_READ_MS = 5_000;

/**
 * Reads the jobs, since the answers of the store have no names. The jobs have ended by now: the caller's answer neither
 * waits for this nor fails with it.
 */
async function logDone(
  { store, telemetry, log }: SchedulerContext,
  successes: readonly Success[],
  settled: readonly Settled[],
): Promise<void> {
  const ids = successes.filter((_, position) => isFresh(settled[position])).map(({ jobId }) => jobId);
  if (ids.length === 0) return;
  try {
    const jobs = await store.read(ids, AbortSignal.timeout(LOG_READ_MS));
    for (const job of jobs) telemetry.log.ended(job, job.startedAt);
  } catch (error) {
    log.debug({ error, job_ids: ids }, 'could not read jobs that are done to log them');
  }
}

function isFresh(answer: Settled | undefined): boolean {
  return answer?.result === 'ok' && answer.fresh;
}

interface Others {
  others: readonly number[];
  answers: SettleAnswer[];
  signal: AbortSignal;
}

async function settleOthers(
  context: SchedulerContext,
  settlements: readonly Settlement[],
  { others, answers, signal }: Others,
): Promise<void> {
  const byJob = new Map<number, Settlement[]>();
  for (const index of others) {
    const settlement = settlements[index] as Settlement;
    byJob.set(settlement.jobId, [...(byJob.get(settlement.jobId) ?? []), settlement]);
  }
  /** The settlement that was acted on, per job. */
  const actedOn = new Map<number, Settlement>();
  const eventFor = (job: Job) => {
    const settlement = byJob.get(job.id)?.find((report) => holds(job, report));
    if (settlement === undefined || settlement.outcome.type === 'succeeded') return undefined;
    actedOn.set(job.id, settlement);
    return { type: 'settle' as const, outcome: settlement.outcome };
  };
  await closeRates(context, [...byJob.values()].flat(), signal);
  const ids = [...byJob.keys()];
  const decisions = await decide(context, ids, eventFor, signal);
  const changed = new Set(ids.filter((_, position) => decisions[position]?.type === 'changed'));
  for (const index of others) {
    const settlement = settlements[index] as Settlement;
    const acted = changed.has(settlement.jobId) && actedOn.get(settlement.jobId) === settlement;
    answers[index] = acted || (await wasSettledBefore(context, settlement, signal)) ? 'ok' : 'lease_lost';
  }
}

/** Before the jobs wait again, so that none of them starts in between. Only what still runs closes its own rates. */
async function closeRates(
  { store }: SchedulerContext,
  settlements: readonly Settlement[],
  signal: AbortSignal,
): Promise<void> {
  const closing = settlements.filter(({ outcome }) => outcome.type === 'snoozed' && outcome.closes !== undefined);
  if (closing.length === 0) return;
  const jobs = await store.read(
    closing.map(({ jobId }) => jobId),
    signal,
  );
  for (const settlement of closing) {
    const { jobId, outcome } = settlement;
    const job = jobs.find(({ id }) => id === jobId);
    if (job === undefined || !holds(job, settlement) || outcome.type !== 'snoozed') continue;
    const { delayMs, closes } = outcome;
    for (const { key } of job.rates) {
      if (closes === 'all' || closes?.key === key) await store.closeRate(key, delayMs, signal);
    }
  }
}

function holds(job: Job, { attempt, workerId }: Settlement): boolean {
  return job.status === 'running' && job.attempt === attempt && job.workerId === workerId;
}

/** A repeated settlement, whose answer was lost, gets the first answer. */
async function wasSettledBefore(
  context: SchedulerContext,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<boolean> {
  const attempts = await context.store.attempts(settlement.jobId, signal);
  const record = attempts.find(({ attempt }) => attempt === settlement.attempt);
  if (record === undefined || record.workerId !== settlement.workerId) return false;
  return sameOutcome(record, settlement.outcome);
}

function sameOutcome(
  record: { outcome: string; exitCode: number | null; signal: string | null },
  outcome: Outcome,
): boolean {
  const reported = recordOf(outcome);
  if (record.exitCode !== reported.exitCode || record.signal !== reported.signal) return false;
  // After a cancel request, every outcome but success is recorded as `cancelled`.
  if (record.outcome === 'stopped') return outcome.type !== 'succeeded';
  return record.outcome === reported.outcome || (record.outcome === 'cancelled' && outcome.type !== 'succeeded');
}
