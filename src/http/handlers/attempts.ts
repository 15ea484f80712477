/** Attempts: how a worker claims jobs and reports their outcomes. */

import type { z } from 'zod';
import { ClaimedJobs, ClaimRequest, claimedJobsToText, MAX_CLAIM_WAIT_MS } from '../../api/claim.ts';
import { leaseToWire } from '../../api/heartbeat.ts';
import { ReportAnswer, ReportRequest } from '../../api/report.ts';
import { routes } from '../../api/routes.ts';
import {
  Done,
  Fail,
  outcomeFromDone,
  outcomeFromFail,
  outcomeFromWire,
  SettleAnswer,
  SettleItem,
  SettleRequest,
  SettleResult,
} from '../../api/settle.ts';
import { StepsAnswer, StepsRequest, stepsToWire, writesFromWire, writtenToWire } from '../../api/step.ts';
import { WorkronError } from '../../core/error.ts';
import type { ClaimedJob } from '../../core/job.ts';
import type { Settlement } from '../../core/outcome.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { authorizeWorker, claimableQueues } from '../authorize.ts';
import { handler, Serialized } from '../handler.ts';
import { pathId } from '../path-id.ts';

/** The number of characters in one reply to a claim; a single job may have more. */
const MAX_REPLY_LENGTH = 32 * 1024 * 1024;

export const attemptHandlers = {
  claimJobs: handler(routes.claimJobs, {
    summary: 'Claim jobs that a worker can run; waits for some if there are none',
    body: ClaimRequest,
    long: true,
    quiet: true,
    replies: { 200: ClaimedJobs },
    async handle(call) {
      const { scheduler, principal, body, polls, signal } = call;
      using _ = polls.take();
      const { worker_id: workerId, limit, prefetch, claim_seq: claimSeq, wait } = body;
      await authorizeWorker(call, workerId);
      const { commands, handlers, tags, free } = body;
      const queues = claimableQueues(principal, body.queues);
      const offer = { queues, commands, handlers, tags, free };
      const waitMs = Math.min(wait, MAX_CLAIM_WAIT_MS);
      const request = { workerId, limit, prefetch, claimSeq, offer, waitMs, runsSteps: body.steps };
      const jobs = await scheduler.claim(request, signal);
      const { text, count } = claimedJobsToText(jobs, body, MAX_REPLY_LENGTH);
      await returnJobs(scheduler, workerId, signal.aborted ? jobs : jobs.slice(count));
      signal.throwIfAborted();
      return { status: 200, json: new Serialized<z.output<typeof ClaimedJobs>>(text) };
    },
  }),

  settleJobs: handler(routes.settleJobs, {
    summary: 'Report the outcomes of several attempts; each has its own result',
    body: SettleRequest,
    textFromJobs: true,
    bodyLimit: 64 * 1024 * 1024,
    quiet: true,
    replies: { 200: SettleAnswer },
    async handle(call) {
      const { scheduler, params, body, signal } = call;
      const workerId = pathId(params, 'worker_not_found');
      await authorizeWorker(call, workerId);
      const answers: SettleResult[] = [];
      const settlements: Settlement[] = [];
      const places: SettleResult[] = [];
      for (const raw of body.items) {
        const item = SettleItem.safeParse(raw);
        if (item.success) {
          const { job_id: jobId, attempt, started_at: startedAt } = item.data;
          const settlement = { jobId, attempt, workerId, outcome: outcomeFromWire(item.data) };
          settlements.push(startedAt === undefined ? settlement : { ...settlement, startedAt });
          const place: SettleResult = { job_id: String(jobId), attempt, result: 'invalid' };
          places.push(place);
          answers.push(place);
        } else {
          answers.push({ ...namesIn(raw), result: 'invalid' });
        }
      }
      const results = settlements.length === 0 ? [] : await scheduler.settle(settlements, signal);
      for (const [index, result] of results.entries()) (places[index] as SettleResult).result = result;
      return { status: 200, json: { items: answers } };
    },
  }),

  doneJob: handler(routes.doneJob, {
    summary: 'Report that an attempt succeeded',
    body: Done,
    textFromJobs: true,
    bodyLimit: 2 * 1024 * 1024,
    quiet: true,
    replies: { 200: SettleResult },
    async handle(call) {
      const { scheduler, params, body, signal } = call;
      const { worker_id: workerId, attempt } = body;
      await authorizeWorker(call, workerId);
      const settlement = { jobId: pathId(params), attempt, workerId, outcome: outcomeFromDone(body) };
      return { status: 200, json: await settleOne(scheduler, settlement, signal) };
    },
  }),

  failJob: handler(routes.failJob, {
    summary: 'Report that an attempt failed; the scheduler decides whether it is retried',
    body: Fail,
    textFromJobs: true,
    quiet: true,
    replies: { 200: SettleResult },
    async handle(call) {
      const { scheduler, params, body, signal } = call;
      const { worker_id: workerId, attempt } = body;
      await authorizeWorker(call, workerId);
      const settlement = { jobId: pathId(params), attempt, workerId, outcome: outcomeFromFail(body) };
      return { status: 200, json: await settleOne(scheduler, settlement, signal) };
    },
  }),

  writeSteps: handler(routes.writeSteps, {
    summary: 'Write steps of functions that a worker runs; each has its own answer',
    body: StepsRequest,
    textFromJobs: true,
    bodyLimit: 64 * 1024 * 1024,
    quiet: true,
    replies: { 200: StepsAnswer },
    async handle(call) {
      const { scheduler, body, signal } = call;
      const workerId = pathId(call.params, 'worker_not_found');
      await authorizeWorker(call, workerId);
      const written = await scheduler.writeSteps(writesFromWire(body, workerId), signal);
      const { unused } = body;
      if (unused !== undefined) {
        const { job_id: jobId, attempt, names } = unused;
        await scheduler.noteUnused({ jobId, attempt, workerId, names }, signal);
      }
      const items = written.map(writtenToWire);
      if (body.read === undefined) return { status: 200, json: { items } };
      const { job_id: jobId, attempt, after } = body.read;
      const read = stepsToWire(await scheduler.readSteps({ jobId, attempt, workerId, after }, signal));
      return { status: 200, json: { items, read } };
    },
  }),

  writeReport: handler(routes.writeReport, {
    summary: 'Report the progress of attempts',
    body: ReportRequest,
    textFromJobs: true,
    bodyLimit: 16 * 1024 * 1024,
    quiet: true,
    replies: { 200: ReportAnswer },
    async handle(call) {
      const { scheduler, params, body, signal } = call;
      const workerId = pathId(params, 'worker_not_found');
      await authorizeWorker(call, workerId);
      const reports = body.items.map(({ job_id: jobId, attempt, progress }) => {
        return { jobId, attempt, workerId, progress };
      });
      // If a job has two reports, the later one counts and answers for both.
      const latest = [...new Map(reports.map((report) => [report.jobId, report])).values()];
      const held = latest.length === 0 ? [] : await scheduler.report(latest, signal);
      const answers = new Map(latest.map(({ jobId }, place) => [jobId, held[place] === true]));
      const items = reports.map(({ jobId, attempt }) => {
        return { job_id: String(jobId), attempt, held: answers.get(jobId) === true };
      });
      return { status: 200, json: { items } };
    },
  }),
};

/** Gives back jobs that do not reach the caller. Otherwise they would wait until the lease expires. */
async function returnJobs(scheduler: Scheduler, workerId: number, jobs: readonly ClaimedJob[]): Promise<void> {
  if (jobs.length === 0) return;
  const settlements = jobs.map(({ id: jobId, attempt }) => {
    return { jobId, attempt, workerId, outcome: { type: 'returned' as const } };
  });
  await scheduler.settle(settlements, AbortSignal.timeout(10_000));
}

/** The ids in a malformed item, as far as they can be read. */
function namesIn(raw: unknown): { job_id: string | null; attempt: number | null } {
  const { job_id, attempt } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>;
  return {
    job_id: typeof job_id === 'string' ? job_id.slice(0, 32) : null,
    attempt: typeof attempt === 'number' ? attempt : null,
  };
}

/** Throws `lease_lost` if the attempt does not belong to this worker any more. */
async function settleOne(scheduler: Scheduler, settlement: Settlement, signal: AbortSignal): Promise<SettleResult> {
  const [result] = await scheduler.settle([settlement], signal);
  const { jobId, attempt, workerId } = settlement;
  if (result === 'ok') return { ...leaseToWire(settlement), result };
  throw new WorkronError(
    'lease_lost',
    `Attempt ${attempt} of job ${jobId} is not held by worker ${workerId}, or has another outcome already`,
    { jobId },
  );
}
