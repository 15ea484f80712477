/** Calls that encode what they send, decode their answer, or take both threads. All others are sent as they are. */

import { statfs } from 'node:fs/promises';
import type { Clock } from '../../../core/clock.ts';
import type { NewWorkflow } from '../../../core/dag/new-workflow.ts';
import type { Workflow, WorkflowStep } from '../../../core/dag/workflow.ts';
import { hostsOf } from '../../../core/gang.ts';
import type { ClaimedJob, Job, NewJob } from '../../../core/job.ts';
import type { JobEdit } from '../../../core/job-edit.ts';
import type { JobFilter, ListedJob } from '../../../core/job-filter.ts';
import type { Settled, Success } from '../../../core/lease.ts';
import type { Delivery } from '../../../core/notice.ts';
import { PROBE_BYTES } from '../../../core/output.ts';
import type { QueueSettings, QueueState } from '../../../core/queue.ts';
import type { Change } from '../../../core/transition.ts';
import type { LostJob, LostRequest, Retention } from '../../duty-store.ts';
import type { ClaimRequest, Inserted, InsertedAndClaimed, InsertOptions } from '../../job-store.ts';
import type { StepPage } from '../../workflow-store.ts';
import { encodeNewWorkflowInTurns } from '../graph/new-workflow.ts';
import { decodeRunContext } from '../graph/run-context.ts';
import { decodeStep } from '../graph/workflows.ts';
import type { ClaimAnswer } from '../jobs/claim.ts';
import { encodeNewJobs, insertCall } from '../jobs/new-job-row.ts';
import type { SettledRow, SuccessRow } from '../jobs/settle.ts';
import { CLAIMED, type ClaimedRow, decodeClaimedJob, decodeJob, decodeListedJob, idOf } from '../reads/job-row.ts';
import type { ReaderMethods } from './reader-methods.ts';
import type { Calls } from './thread.ts';
import type { WriterMethods } from './writer-methods.ts';

export interface Threads {
  writer: Calls<WriterMethods>;
  reader: Calls<ReaderMethods>;
  file: string;
  clock: Clock;
}

/** The probe is committed before it is deleted: what never reaches the disk proves nothing. */
async function checkWritable({ writer, file }: Threads, signal: AbortSignal): Promise<void> {
  const { bavail, bsize } = await statfs(file);
  if (!writer.health.hasFailed && bavail * bsize >= PROBE_BYTES) {
    await writer.call('now', [], signal);
    return;
  }
  await writer.call('insertProbe', [], signal);
  await writer.call('deleteProbe', [], signal);
  writer.health.hasFailed = false;
}

async function insert(
  { writer, clock }: Threads,
  jobs: readonly NewJob[],
  options: InsertOptions,
  signal: AbortSignal,
): Promise<Inserted> {
  signal.throwIfAborted();
  const { input, decode } = insertCall(jobs, clock.now(), options);
  return decode(await writer.call('insert', [input], signal));
}

async function insertAndClaim(
  { writer, clock }: Threads,
  jobs: readonly NewJob[],
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<InsertedAndClaimed> {
  signal.throwIfAborted();
  const { input, decode } = insertCall(jobs, clock.now());
  const { inserted, claimed } = await writer.call('insertAndClaim', [input, request], signal);
  return { items: decode(inserted).items, claimed: claimed === null ? [] : decodeClaimed(claimed, request) };
}

async function claim({ writer }: Threads, request: ClaimRequest, signal: AbortSignal): Promise<ClaimedJob[]> {
  return decodeClaimed(await writer.call('claim', [request], signal), request);
}

function decodeClaimed(answer: ClaimAnswer, request: ClaimRequest): ClaimedJob[] {
  const jobs = decodeJobs(answer, request);
  for (const job of jobs) {
    if (job.gang !== null) job.gangContext = { hosts: hostsOf(job.gang, answer.gangHosts?.[job.gang.id] ?? []) };
  }
  return jobs;
}

function decodeJobs({ rows, startedAt, runContext }: ClaimAnswer, { prefetch = false }: ClaimRequest): ClaimedJob[] {
  const claimed = JSON.parse(rows) as ClaimedRow[];
  if (runContext === null) return claimed.map((row) => decodeClaimedJob(row, { startedAt, prefetch }));
  const around = decodeRunContext(runContext, new Map(claimed.map((row) => [row[CLAIMED.id], row[CLAIMED.spec]])));
  return claimed.map((row) => decodeClaimedJob(row, { startedAt, prefetch }, around.get(row[CLAIMED.id]) ?? null));
}

async function settle({ writer }: Threads, successes: readonly Success[], signal: AbortSignal): Promise<Settled[]> {
  const rows = successes.map(encodeSuccess);
  const hasResults = rows.some(([, , , , result]) => result !== null);
  const hasUsage = successes.some(({ usage }) => usage !== undefined);
  const input = { rows: JSON.stringify(rows), count: rows.length, hasResults, hasUsage };
  const settled = JSON.parse(await writer.call('settle', [input], signal)) as SettledRow[];
  return settledInOrder(successes, settled);
}

function encodeSuccess({ jobId, attempt, workerId, exitCode, startedAt, result, usage }: Success): SuccessRow {
  const text = result === undefined || result === null ? null : JSON.stringify(result);
  const start = startedAt === undefined ? null : Math.round(startedAt);
  const used = usage === undefined ? ([] as const) : ([usage.cpuMs, usage.maxRssBytes] as const);
  return [jobId, attempt, workerId, exitCode, text, start, ...used];
}

/** A success that is not among the settled has lost its lease; one that is there twice repeats the first. */
function settledInOrder(successes: readonly Success[], settled: readonly SettledRow[]): Settled[] {
  const rows = new Map(settled.map((row) => [idOf(row), row]));
  const answered = new Set<number>();
  return successes.map(({ jobId, attempt, workerId }) => {
    const row = rows.get(jobId);
    if (row === undefined) return { result: 'lease_lost' };
    const [, settledAttempt, settledWorker, fresh, queue, dueAt, startedAt, endedAt] = row;
    if (settledAttempt !== attempt || settledWorker !== workerId) return { result: 'lease_lost' };
    const repeats = answered.has(jobId);
    answered.add(jobId);
    return { result: 'ok', fresh: fresh && !repeats, queue, dueAt, startedAt, endedAt };
  });
}

async function applyChanges(
  { writer }: Threads,
  changes: readonly Change[],
  signal: AbortSignal,
): Promise<(Job | undefined)[]> {
  const rows = await writer.call('applyChanges', [changes], signal);
  return rows.map((row) => (row === undefined ? undefined : decodeJob(row)));
}

async function edit(
  { writer }: Threads,
  jobId: number,
  wanted: JobEdit,
  signal: AbortSignal,
): Promise<Job | undefined> {
  const row = await writer.call('edit', [jobId, wanted], signal);
  return row === undefined ? undefined : decodeJob(row);
}

async function findExpired({ writer }: Threads, limit: number, signal: AbortSignal): Promise<Job[]> {
  return (await writer.call('findExpired', [limit], signal)).map(decodeJob);
}

async function findLost({ writer }: Threads, request: LostRequest, signal: AbortSignal): Promise<LostJob[]> {
  const lost = await writer.call('findLost', [request], signal);
  return lost.map(([row, workerSeenAt]) => ({ job: decodeJob(row), workerSeenAt }));
}

async function findSkippable({ writer }: Threads, limit: number, signal: AbortSignal): Promise<Job[]> {
  return (await writer.call('findSkippable', [limit], signal)).map(decodeJob);
}

/** There are no session locks. */
async function findUnlocked(_threads: Threads, signal: AbortSignal) {
  signal.throwIfAborted();
  return { workers: [], serverStartedAt: 0 };
}

/** An application's transaction keeps writers out until it ends, so the writer is called only if there is something. */
async function adopt({ writer, reader }: Threads, limit: number, signal: AbortSignal): Promise<number> {
  const waiting = await reader.call('hasIntake', [], signal);
  return waiting ? writer.call('adopt', [limit], signal) : 0;
}

async function prune(
  { writer, reader }: Threads,
  retention: Retention,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  const old = await reader.call('findOld', [retention, limit], signal);
  return writer.call('prune', [retention, limit, old], signal);
}

async function deliver(
  threads: Threads,
  noticeId: number,
  { alarm, messages }: Delivery,
  signal: AbortSignal,
): Promise<Job[] | undefined> {
  signal.throwIfAborted();
  const { writer, clock } = threads;
  const now = clock.now();
  const encoded = messages.map(({ event, job }) => ({ event, ...encodeNewJobs([job], now) }));
  const ids = await writer.call('deliver', [{ noticeId, alarm, messages: encoded, now }], signal);
  return ids === undefined ? undefined : read(threads, ids, signal);
}

async function read({ writer }: Threads, ids: readonly number[], signal: AbortSignal): Promise<Job[]> {
  return (await writer.call('read', [ids], signal)).map(decodeJob);
}

async function list(
  { reader }: Threads,
  filter: JobFilter,
  page: { before: number | null; limit: number },
  signal: AbortSignal,
): Promise<ListedJob[]> {
  return (await reader.call('list', [filter, page], signal)).map(decodeListedJob);
}

async function insertWorkflow(
  { writer, clock }: Threads,
  workflow: NewWorkflow,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<{ workflow: Workflow; replayed: boolean }> {
  signal.throwIfAborted();
  const now = clock.now();
  const encoded = await encodeNewWorkflowInTurns(workflow, now);
  const handedOver = encoded.pieces.flatMap(({ jobs, steps: rows }) => [jobs.buffer, rows.buffer]);
  return writer.call('insertWorkflow', [{ ...options, ...encoded, now }], signal, { handedOver });
}

async function steps(
  { reader }: Threads,
  workflowId: number,
  page: StepPage | null,
  signal: AbortSignal,
): Promise<WorkflowStep[]> {
  return (await reader.call('steps', [workflowId, page], signal)).map(decodeStep);
}

function queues({ reader }: Threads, signal: AbortSignal): Promise<QueueState[]> {
  return reader.call('queues', [null], signal);
}

/** Counting the queue's jobs is a longer read, so the reader does it. */
async function setQueue(
  { writer, reader }: Threads,
  name: string,
  settings: Partial<QueueSettings>,
  signal: AbortSignal,
): Promise<QueueState> {
  await writer.call('setQueue', [name, settings], signal);
  const [state] = await reader.call('queues', [name], signal);
  return state as QueueState;
}

export const calls = {
  checkWritable,
  insert,
  insertAndClaim,
  claim,
  settle,
  applyChanges,
  edit,
  findExpired,
  findLost,
  findSkippable,
  findUnlocked,
  adopt,
  prune,
  deliver,
  read,
  list,
  insertWorkflow,
  steps,
  queues,
  setQueue,
};
