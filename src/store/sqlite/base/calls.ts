/** Calls that encode what they send, decode their answer, or take both threads. All others are sent as they are. */

import { statfs } from 'node:fs/promises';
import type { Clock } from '../../../core/clock.ts';
import type { NewWorkflow } from '../../../core/dag/new-workflow.ts';
import type { Workflow } from '../../../core/dag/workflow.ts';
import { hostsOf } from '../../../core/gang.ts';
import type { ClaimedJob, NewJob } from '../../../core/job.ts';
import type { LaneMark } from '../../../core/lane.ts';
import type { Settled, Success } from '../../../core/lease.ts';
import { PROBE_BYTES } from '../../../core/output.ts';
import type { ClaimRequest, Inserted, InsertedAndClaimed, InsertOptions } from '../../job-store.ts';
import { encodeNewWorkflow } from '../graph/new-workflow.ts';
import { decodeRunContext } from '../graph/run-context.ts';
import type { ClaimAnswer } from '../jobs/claim.ts';
import { insertCall } from '../jobs/new-job-row.ts';
import type { SettledRow, SuccessRow } from '../jobs/settle.ts';
import { CLAIMED, type ClaimedRow, decodeClaimedJob, idOf } from '../reads/job-row.ts';
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

/** There are no session locks. */
async function findUnlocked(_threads: Threads, signal: AbortSignal) {
  signal.throwIfAborted();
  return { workers: [], serverStartedAt: 0 };
}

async function deleteLanes(
  { writer, reader }: Threads,
  marks: readonly LaneMark[],
  signal: AbortSignal,
): Promise<number> {
  const unused = await reader.call('withoutJobs', [marks], signal);
  return unused.length === 0 ? 0 : writer.call('deleteLanes', [unused], signal);
}

async function insertWorkflow(
  { writer }: Threads,
  workflow: NewWorkflow,
  options: InsertOptions,
  signal: AbortSignal,
): Promise<{ workflow: Workflow; replayed: boolean }> {
  signal.throwIfAborted();
  const encoded = await encodeNewWorkflow(workflow);
  const handedOver = encoded.pieces.map(({ buffer }) => buffer);
  return writer.call('insertWorkflow', [encoded, options], signal, { handedOver });
}

export const calls = {
  checkWritable,
  insert,
  insertAndClaim,
  claim,
  settle,
  findUnlocked,
  deleteLanes,
  insertWorkflow,
};
