/** A worker's jobs from a scheduler over HTTP. */

import { hostname } from 'node:os';
import type { z } from 'zod';
import { ClaimedJobs, ClaimWaitEnded, claimedJobsFromWire } from '../api/claim.ts';
import { toInstant } from '../api/fields.ts';
import { HeartbeatAnswer, leaseFromWire, leaseToWire } from '../api/heartbeat.ts';
import { encodeFrames, OUTPUT_TYPE, OutputAnswer } from '../api/output.ts';
import { Left, PROTOCOL, Registered } from '../api/registration.ts';
import { ReportAnswer } from '../api/report.ts';
import { type ParamsOf, pathOf, type Route } from '../api/route.ts';
import { routes } from '../api/routes.ts';
import { SettleAnswer, settlementToWire } from '../api/settle.ts';
import { StepsAnswer, stepsFromWire, writeToWire, writtenFromWire } from '../api/step.ts';
import type { CheckpointContent, NewCheckpoint } from '../core/checkpoint.ts';
import type { StepWrite, StepWritten, UnusedSteps } from '../core/durable.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import type { LeaseRef, Report, WorkerHeartbeat } from '../core/lease.ts';
import type { LeaseKeeperPlan } from '../core/lease-keeper.ts';
import type { Settlement, SettleResult } from '../core/outcome.ts';
import type { LogChunk } from '../core/output.ts';
import { requestAddress } from '../core/socket-address.ts';
import type { Log } from '../ops/log.ts';
import { derivedToken } from '../ops/token-text.ts';
import { downloadCheckpoint, uploadCheckpoint } from './http-checkpoint.ts';
import { type Exchange, type ExchangeOptions, HttpExchange } from './http-exchange.ts';
import { httpLeaseKeeper } from './http-lease-keeper.ts';
import { listenForNudges } from './http-nudges.ts';
import type { JobSource, SourceClaim, WorkerProfile } from './job-source.ts';

interface HttpSourceOptions {
  /** Schedulers of one installation: if one cannot be reached, the next is tried. */
  urls: readonly string[];
  token: string | null;
  ca?: string | null;
  log: Log;
  version: string;
}

/** The time for an answer: a half-open connection must be noticed within 15 s. */
const DEADLINE_MS = 8_000;
/** The longest poll: a dead connection must be noticed during one too. */
const MAX_WAIT_MS = 5_000;
/** Larger messages are split into several requests. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_ITEMS = 5_000;

export function httpSource(options: HttpSourceOptions): JobSource & AsyncDisposable {
  return new HttpSource(options);
}

type Payload = string | Uint8Array;

class HttpSource implements JobSource, AsyncDisposable {
  readonly leaseKeeper: LeaseKeeperPlan;
  readonly #options: ExchangeOptions;
  readonly #exchange: HttpExchange;
  readonly #version: string;
  readonly #log: Log;
  readonly #ended = new AbortController();

  constructor({ urls, token, ca = null, log, version }: HttpSourceOptions) {
    this.#options = { urls, token, ca, userAgent: `workron/${version}` };
    this.leaseKeeper = httpLeaseKeeper(this.#options);
    this.#exchange = new HttpExchange(this.#options);
    this.#version = version;
    this.#log = log;
  }

  async register(profile: WorkerProfile, signal: AbortSignal) {
    const identity = { protocol: PROTOCOL, host: hostname(), pid: process.pid, version: this.#version };
    const message = JSON.stringify({ ...identity, ...profile });
    const answer = await this.#post(routes.registerWorker, Registered, { params: {}, message, signal });
    return { workerId: Number(answer.worker_id), leaseMs: answer.lease, heartbeatMs: answer.heartbeat };
  }

  async claim({ workerId, limit, prefetch, offer, claimSeq, waitMs }: SourceClaim, signal: AbortSignal) {
    const wait = Math.min(waitMs, MAX_WAIT_MS);
    const message = JSON.stringify({
      worker_id: String(workerId),
      limit,
      prefetch,
      wait,
      claim_seq: claimSeq,
      results_once: true,
      alike_once: true,
      steps: true,
      ...offer,
    });
    const call = { params: {}, message, signal, waitMs: wait };
    const { items } = await this.#post(routes.claimJobs, ClaimedJobs, call);
    return claimedJobsFromWire(items);
  }

  async endWait(workerId: number, claimSeq: number, signal: AbortSignal): Promise<void> {
    const message = JSON.stringify({ claim_seq: claimSeq });
    await this.#post(routes.endClaimWait, ClaimWaitEnded, { params: { id: workerId }, message, signal });
  }

  async heartbeat({ workerId, leases, started = [], seenClaim }: WorkerHeartbeat, signal: AbortSignal) {
    const message = JSON.stringify({
      leases: leases.map(leaseToWire),
      started: started.map((start) => ({ ...leaseToWire(start), started_at: toInstant(start.startedAt) })),
      seen_claim: seenClaim,
    });
    try {
      const call = { params: { id: workerId }, message, signal };
      const { cancel, lost, drain } = await this.#post(routes.heartbeatWorker, HeartbeatAnswer, call);
      return { cancel: cancel.map(leaseFromWire), lost: lost.map(leaseFromWire), drain };
    } catch (error) {
      if (isWorkronError(error, 'worker_not_found')) return undefined;
      throw error;
    }
  }

  settle(settlements: readonly Settlement[], signal: AbortSignal): Promise<SettleResult[]> {
    return inBatches(settleRequests(settlements), async ({ workerId, items }) => {
      const call = { params: { id: workerId }, message: itemsMessage(items), signal };
      return (await this.#post(routes.settleJobs, SettleAnswer, call)).items.map(({ result }) => result);
    });
  }

  writeOutput(chunks: readonly LogChunk[], signal: AbortSignal): Promise<boolean[]> {
    return inBatches(outputRequests(chunks), async ({ workerId, items }) => {
      const call = { params: { id: workerId }, message: encodeFrames(items), signal };
      return (await this.#post(routes.writeOutput, OutputAnswer, call)).items.map(({ held }) => held);
    });
  }

  report(reports: readonly Report[], signal: AbortSignal): Promise<boolean[]> {
    return inBatches(reportRequests(reports), async ({ workerId, items }) => {
      const call = { params: { id: workerId }, message: itemsMessage(items), signal };
      return (await this.#post(routes.writeReport, ReportAnswer, call)).items.map(({ held }) => held);
    });
  }

  writeCheckpoint(checkpoint: NewCheckpoint, signal: AbortSignal): Promise<boolean> {
    return uploadCheckpoint(this.#exchange, checkpoint, signal);
  }

  checkpoint(jobId: number, signal: AbortSignal): Promise<CheckpointContent | null> {
    return downloadCheckpoint(this.#exchange, jobId, signal);
  }

  writeSteps(writes: readonly StepWrite[], signal: AbortSignal): Promise<StepWritten[]> {
    return inBatches(stepRequests(writes), async ({ workerId, items }) => {
      const call = { params: { id: workerId }, message: itemsMessage(items), signal };
      return (await this.#post(routes.writeSteps, StepsAnswer, call)).items.map(writtenFromWire);
    });
  }

  async readSteps(
    { jobId, attempt, workerId, after }: LeaseRef & { workerId: number; after: number },
    signal: AbortSignal,
  ) {
    const read = { job_id: String(jobId), attempt, after };
    const call = { params: { id: workerId }, message: JSON.stringify({ read }), signal };
    const answer = await this.#post(routes.writeSteps, StepsAnswer, call);
    return answer.read === undefined ? { steps: [], next: null } : stepsFromWire(answer.read);
  }

  async noteUnused({ jobId, attempt, workerId, names }: UnusedSteps, signal: AbortSignal): Promise<boolean> {
    const message = JSON.stringify({ unused: { job_id: String(jobId), attempt, names } });
    await this.#post(routes.writeSteps, StepsAnswer, { params: { id: workerId }, message, signal });
    return true;
  }

  async leave(workerId: number, signal: AbortSignal): Promise<void> {
    await this.#post(routes.leaveWorker, Left, { params: { id: workerId }, message: '{}', signal });
  }

  gone(workerId: number) {
    const { urls, token, ca, userAgent } = this.#options;
    const path = pathOf(routes.goneWorker, { id: workerId });
    const headers = { 'content-type': 'application/json', 'user-agent': userAgent };
    const derived = token === null ? null : derivedToken(token, `${routes.goneWorker.method} ${path}`);
    return {
      urls: urls.map((url) => requestAddress(url, path)),
      ca,
      headers: derived === null ? headers : { ...headers, authorization: `Bearer ${derived}` },
    };
  }

  onNudge(workerId: number, listener: () => void): () => void {
    const signal = this.#ended.signal;
    return listenForNudges({ exchange: this.#exchange, workerId, log: this.#log, signal }, listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#exchange[Symbol.dispose]();
  }

  /** Sends a message that is serialized already and checks the reply. */
  async #post<R extends Route, S extends z.ZodType>(
    route: R,
    answer: S,
    call: { params: ParamsOf<R>; message: Payload; signal: AbortSignal; waitMs?: number },
  ): Promise<z.output<S>> {
    const { params, message, signal, waitMs = 0 } = call;
    const type = typeof message === 'string' ? 'application/json' : OUTPUT_TYPE;
    const request = { params, payload: { type, data: message }, deadlineMs: DEADLINE_MS + waitMs };
    return understand(answer, await this.#exchange.json<Route>(route, request as Exchange<Route>, signal), route);
  }
}

/** A newer scheduler may send more than this version knows. Less than it needs is an error. */
function understand<S extends z.ZodType>(schema: S, value: unknown, { path }: Route): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new WorkronError('unreachable', `The answer to ${path} is not one of a scheduler`, { cause: result.error });
}

function itemsMessage(items: readonly string[]): string {
  return `{"items":[${items.join(',')}]}`;
}

/** Sends one batch after the other and joins the answers. */
async function inBatches<T, A>(batches: readonly Batch<T>[], send: (batch: Batch<T>) => Promise<A[]>): Promise<A[]> {
  const answers: A[] = [];
  for (const batch of batches) answers.push(...(await send(batch)));
  return answers;
}

interface Batch<T> {
  workerId: number;
  items: T[];
}

function settleRequests(settlements: readonly Settlement[]): Batch<string>[] {
  return batches(
    settlements.map((settlement) => {
      const item = JSON.stringify(settlementToWire(settlement));
      return { workerId: settlement.workerId, item, bytes: item.length };
    }),
  );
}

function stepRequests(writes: readonly StepWrite[]): Batch<string>[] {
  return batches(
    writes.map((write) => {
      const item = JSON.stringify(writeToWire(write));
      return { workerId: write.workerId, item, bytes: item.length };
    }),
  );
}

function reportRequests(reports: readonly Report[]): Batch<string>[] {
  return batches(
    reports.map(({ jobId, attempt, workerId, progress }) => {
      const item = JSON.stringify({ job_id: String(jobId), attempt, progress });
      return { workerId, item, bytes: item.length };
    }),
  );
}

function outputRequests(chunks: readonly LogChunk[]): Batch<LogChunk>[] {
  return batches(chunks.map((chunk) => ({ workerId: chunk.workerId, item: chunk, bytes: chunk.data.length + 24 })));
}

/** Splits entries, in order, into requests that are not too large; each is of one worker. */
function batches<T>(entries: readonly { workerId: number; item: T; bytes: number }[]): Batch<T>[] {
  const made: (Batch<T> & { bytes: number })[] = [];
  for (const { workerId, item, bytes } of entries) {
    const last = made.at(-1);
    if (last?.workerId === workerId && last.items.length < MAX_ITEMS && last.bytes + bytes <= MAX_BODY_BYTES) {
      last.items.push(item);
      last.bytes += bytes;
    } else {
      made.push({ workerId, items: [item], bytes });
    }
  }
  return made;
}
