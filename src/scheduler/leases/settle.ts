/** Settles attempts. Successes take a fast path; all other outcomes are read, decided and written under their fence. */

import type { Job } from '../../core/job.ts';
import type { Settled, Start, Success } from '../../core/lease.ts';
import type { Outcome, Settlement } from '../../core/outcome.ts';
import { recordOf } from '../../core/transition.ts';
import type { SchedulerContext } from '../context.ts';
import { decide } from '../jobs/decide.ts';

export type SettleAnswer = 'ok' | 'lease_lost';

/** Returns, in order, `ok` if accepted now or before, `lease_lost` if the attempt is no longer this worker's. */
export async function settle(
  context: SchedulerContext,
  settlements: readonly Settlement[],
  signal: AbortSignal,
): Promise<SettleAnswer[]> {
  const answers = settlements.map((): SettleAnswer => 'lease_lost');
  const successes: { index: number; success: Success }[] = [];
  const others: number[] = [];
  const starts: Start[] = [];
  settlements.forEach(({ jobId, attempt, workerId, startedAt, outcome }, index) => {
    if (outcome.type !== 'succeeded') {
      if (startedAt !== undefined) starts.push({ jobId, attempt, workerId, startedAt });
      return others.push(index);
    }
    const success: Success = { jobId, attempt, workerId, exitCode: outcome.exitCode };
    if (outcome.result !== undefined) success.result = outcome.result;
    if (startedAt !== undefined) success.startedAt = startedAt;
    return successes.push({ index, success });
  });
  if (successes.length > 0) {
    const settled = await context.store.settle(
      successes.map(({ success }) => success),
      signal,
    );
    context.telemetry.settled(settled);
    if (context.telemetry.log.isVerbose) await logDone(context, successes, settled, signal);
    context.telemetry.waited(settled.filter((_, position) => successes[position]?.success.startedAt !== undefined));
    successes.forEach(({ index }, position) => (answers[index] = settled[position]?.result ?? 'lease_lost'));
  }
  if (starts.length > 0) await context.store.start(starts, signal);
  if (others.length > 0) await settleOthers(context, settlements, { others, answers, signal });
  context.telemetry.leaseLost(answers.filter((answer) => answer === 'lease_lost').length);
  return answers;
}

/** Reads the jobs, since the answers of the store have no names. */
async function logDone(
  { store, telemetry }: SchedulerContext,
  successes: readonly { success: Success }[],
  settled: readonly Settled[],
  signal: AbortSignal,
): Promise<void> {
  const fresh = successes.filter((_, position) => isFresh(settled[position]));
  const jobs = await store.read(
    fresh.map(({ success }) => success.jobId),
    signal,
  );
  for (const job of jobs) telemetry.log.ended(job, job.startedAt);
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
  const ids = [...byJob.keys()];
  const decisions = await decide(context, ids, eventFor, signal);
  const changed = new Set(ids.filter((_, position) => decisions[position]?.type === 'changed'));
  for (const index of others) {
    const settlement = settlements[index] as Settlement;
    const acted = changed.has(settlement.jobId) && actedOn.get(settlement.jobId) === settlement;
    answers[index] = acted || (await wasSettledBefore(context, settlement, signal)) ? 'ok' : 'lease_lost';
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
  return record.outcome === reported.outcome || (record.outcome === 'cancelled' && outcome.type !== 'succeeded');
}
