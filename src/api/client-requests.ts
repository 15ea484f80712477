/** What the calls of the client take and yield. */

import type { CutEvent, OutputEvent } from './event.ts';
import type { Transport } from './http-client.ts';
import type { Job } from './job.ts';
import type { JobFilterInput } from './job-filter.ts';
import type { Tick } from './tick.ts';
import type { Workflow } from './workflow/workflow.ts';

/** The headers of a request for a stream of events. */
export const EVENTS = { accept: 'text/event-stream' };

export interface ClientOptions {
  url: string;
  token?: string | null | undefined;
  /** Sends requests; `fetch` by default, which cannot use a socket (`unix:…`). */
  transport?: Transport | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

export interface SubmitOptions extends CallOptions {
  /** A repeated call with the same key and body gets the first reply and submits nothing. */
  idempotencyKey?: string | undefined;
}

export type LogRequest = CallOptions & { attempt?: number };

type Page = { limit?: number; cursor?: string };

export type ListQuery = Omit<JobFilterInput, 'ids'> & { ids?: string } & Page;
export type StatsRequest = { from?: string; to?: string; step?: string; by?: 'queue' | 'outcome' };
export type TimelineRequest = { from?: string; ahead?: string; each?: number };
export type ScheduleQuery = { owner?: string; q?: string } & Page;
export type TickQuery = { key?: string; kind?: Tick['kind']; verdict?: Tick['verdict'] } & Page;
export type WorkflowQuery = { status?: Workflow['status']; name?: string } & Page;

export function submitCall({ idempotencyKey, ...options }: SubmitOptions) {
  return idempotencyKey === undefined ? options : { headers: { 'idempotency-key': idempotencyKey }, ...options };
}

/** The output of a followed job, and at the end the job itself. */
export type LogEvent = ({ type: 'output' } & OutputEvent) | ({ type: 'cut' } & CutEvent) | { type: 'end'; job: Job };
