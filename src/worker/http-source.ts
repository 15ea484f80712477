/** A worker's jobs from a scheduler over HTTP. */

import { hostname } from 'node:os';
import type { z } from 'zod';
import { ClaimedJobs, claimedJobsFromWire } from '../api/claim.ts';
import { toInstant } from '../api/fields.ts';
import { HeartbeatAnswer, leaseFromWire, leaseToWire } from '../api/heartbeat.ts';
import { encodeFrames, OUTPUT_TYPE, OutputAnswer } from '../api/output-frames.ts';
import { Left, PROTOCOL, Registered } from '../api/registration.ts';
import { Checkpoint, ReportAnswer } from '../api/report.ts';
import { SettleAnswer, settlementToWire } from '../api/settle.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import type { Report } from '../core/lease.ts';
import type { Settlement } from '../core/outcome.ts';
import type { LogChunk } from '../core/output.ts';
import type { Log } from '../ops/log.ts';
import { HttpExchange } from './http-exchange.ts';
import { httpLeaseKeeper } from './http-lease-keeper.ts';
import { listenForNudges } from './http-nudges.ts';
import type { JobSource, SettleResult } from './job-source.ts';

export interface HttpSourceOptions {
  /** Schedulers of one installation: the next is tried where one cannot be reached. */
  urls: readonly string[];
  token: string | null;
  log: Log;
  version: string;
}

/** An answer later than this is as good as none: a half-open connection must be noticed within 15 s. */
const DEADLINE_MS = 8_000;
/** The longest poll, so that a dead connection under it is noticed in time too. */
const MAX_WAIT_MS = 5_000;
/** More goes in several requests. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_ITEMS = 5_000;

export function httpSource({ urls, token, log, version }: HttpSourceOptions): JobSource & AsyncDisposable {
  const way = { urls, token, userAgent: `workron/${version}` };
  const exchange = new HttpExchange(way);
  const ended = new AbortController();

  async function post<S extends z.ZodType>(
    path: string,
    message: string | Uint8Array,
    answer: S,
    options: PostOptions,
  ) {
    const type = typeof message === 'string' ? 'application/json' : OUTPUT_TYPE;
    const deadlineMs = DEADLINE_MS + (options.waitMs ?? 0);
    const body = { type, data: message };
    const value = await exchange.json({ method: 'POST', path, body, deadlineMs }, options.signal);
    return understand(answer, value, path);
  }

  return {
    leaseKeeper: httpLeaseKeeper(way),

    async register(profile, signal) {
      const message = JSON.stringify({
        protocol: PROTOCOL,
        ...profile,
        host: hostname(),
        pid: process.pid,
        version,
      });
      const answer = await post('/workers/register', message, Registered, { signal });
      return { workerId: Number(answer.worker_id), leaseMs: answer.lease, heartbeatMs: answer.heartbeat };
    },

    async claim({ workerId, limit, prefetch, offer, claimSeq, waitMs }, signal) {
      const wait = Math.min(waitMs, MAX_WAIT_MS);
      const message = JSON.stringify({
        worker_id: String(workerId),
        limit,
        prefetch,
        wait,
        claim_seq: claimSeq,
        results_once: true,
        ...offer,
      });
      const { items } = await post('/jobs/claim', message, ClaimedJobs, { signal, waitMs: wait });
      return claimedJobsFromWire(items);
    },

    async heartbeat({ workerId, leases, started = [], seenClaim }, signal) {
      const message = JSON.stringify({
        leases: leases.map(leaseToWire),
        started: started.map((start) => ({ ...leaseToWire(start), started_at: toInstant(start.startedAt) })),
        seen_claim: seenClaim,
      });
      try {
        const answer = await post(`/workers/${workerId}/heartbeat`, message, HeartbeatAnswer, { signal });
        return { cancel: answer.cancel.map(leaseFromWire), lost: answer.lost.map(leaseFromWire), drain: answer.drain };
      } catch (error) {
        if (isWorkronError(error, 'worker_not_found')) return undefined;
        throw error;
      }
    },

    async settle(settlements, signal) {
      const results: SettleResult[] = [];
      for (const { workerId, items } of settleRequests(settlements)) {
        const message = `{"items":[${items.join(',')}]}`;
        const answer = await post(`/workers/${workerId}/settle`, message, SettleAnswer, { signal });
        results.push(...answer.items.map((item) => item.result));
      }
      return results;
    },

    async writeOutput(chunks, signal) {
      const held: boolean[] = [];
      for (const { workerId, items } of outputRequests(chunks)) {
        const answer = await post(`/workers/${workerId}/output`, encodeFrames(items), OutputAnswer, { signal });
        held.push(...answer.items.map((item) => item.held));
      }
      return held;
    },

    async report(reports, signal) {
      const held: boolean[] = [];
      for (const { workerId, items } of reportRequests(reports)) {
        const message = `{"items":[${items.join(',')}]}`;
        const answer = await post(`/workers/${workerId}/report`, message, ReportAnswer, { signal });
        held.push(...answer.items.map((item) => item.held));
      }
      return held;
    },

    async checkpoint(jobId, signal) {
      const path = `/jobs/${jobId}/checkpoint`;
      const value = await exchange.json({ method: 'GET', path, deadlineMs: DEADLINE_MS }, signal);
      return understand(Checkpoint, value, path).value ?? null;
    },

    async leave(workerId, signal) {
      await post(`/workers/${workerId}/leave`, '{}', Left, { signal });
    },

    onNudge: (workerId, listener) => listenForNudges({ exchange, workerId, log, signal: ended.signal }, listener),

    async [Symbol.asyncDispose]() {
      ended.abort();
      exchange[Symbol.dispose]();
    },
  };
}

interface PostOptions {
  signal: AbortSignal;
  waitMs?: number;
}

/** A newer scheduler may say more than we know; one that says less is not one that we can work for. */
function understand<S extends z.ZodType>(schema: S, value: unknown, path: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new WorkronError('unreachable', `The answer to ${path} is not one of a scheduler`, { cause: result.error });
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

function reportRequests(reports: readonly Report[]): Batch<string>[] {
  return batches(
    reports.map(({ jobId, attempt, workerId, progress, checkpoint }) => {
      const item = JSON.stringify({ job_id: String(jobId), attempt, progress, checkpoint });
      return { workerId, item, bytes: item.length };
    }),
  );
}

function outputRequests(chunks: readonly LogChunk[]): Batch<LogChunk>[] {
  return batches(chunks.map((chunk) => ({ workerId: chunk.workerId, item: chunk, bytes: chunk.data.length + 24 })));
}

/** In order, in requests that are neither too large nor of two workers. */
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
