/** The statement that stores a batch of jobs, and the hints that follow. */

import type { Job, NewJob } from '../../../core/job.ts';
import { mayPrefetch } from '../../../core/prefetch.ts';
import { sameButInput } from '../../../core/same-but-input.ts';
import { FLAG, specFlags } from '../../flags.ts';
import { encodeSpec, type StoredSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import type { Session, Statement } from '../base/database.ts';
import type { Sql } from '../base/sql.ts';
import { jsons, numbers, texts } from '../base/values.ts';
import type { FairQueues } from './turns.ts';

/** Jobs per statement. A larger batch takes several statements in one transaction. */
export const PIECE = 5_000;

/** PostgreSQL stores up to 256 MiB of array elements in a `jsonb`, and a character takes up to three bytes. */
const MAX_DOCUMENT_LENGTH = 64 * 1024 * 1024;

/** Stores jobs without regard to keys and returns them in order. They have no turns yet: see `giveTurnsTo`. */
export async function insertRows(
  { sql, fairQueues }: Context,
  session: Session,
  jobs: readonly NewJob[],
  lanes: readonly number[],
): Promise<Job[]> {
  const stored: Job[] = [];
  for (let start = 0; start < jobs.length; start += PIECE) {
    const piece = jobs.slice(start, start + PIECE);
    const { statement, values } = askFor(sql, piece, lanes.slice(start, start + PIECE));
    const [row] = await session.query<StoredRow>(statement, values);
    stored.push(...storedJobs(fairQueues, piece, row));
  }
  return stored;
}

/** The row that a statement returns which stores jobs. */
export interface StoredRow {
  ids: number[];
  now: number;
  /** Queues that take turns. */
  fair: string[] | null;
}

export function storedJobs(fairQueues: FairQueues, jobs: readonly NewJob[], row: StoredRow | undefined): Job[] {
  if (row === undefined) throw new Error('an insert answered with nothing');
  if (row.fair !== null) fairQueues.learn(row.fair);
  return jobs.map((job, place) => newlyStored(job, row.ids[place] as number, row.now));
}

/** Most batches are one kind of job with many inputs: then everything but the specs is sent and computed once. */
function askFor(
  sql: Sql,
  jobs: readonly NewJob[],
  lanes: readonly number[],
): { statement: Statement; values: unknown[] } {
  const alike = areAlike(jobs) ? alikeColumns(jobs, lanes[0] as number) : null;
  if (alike !== null) return { statement: sql.insertAlike, values: alike };
  return { statement: sql.insertJobs, values: [...columnsOf(jobs, lanes), numbers(jobs.map(ownFlags))] };
}

type Some<T> = readonly [T, ...T[]];

/** True if they differ in nothing but their inputs. */
export function areAlike(jobs: readonly NewJob[]): jobs is Some<NewJob> {
  const [first] = jobs;
  return first !== undefined && jobs.every((job) => isAlike(first, job));
}

/**
 * The parameters of jobs that are alike: the specs as one document, and everything else once. `null` if the document would be
 * too large for a `jsonb`.
 */
export function alikeColumns(jobs: Some<NewJob>, lane: number): unknown[] | null {
  const [first] = jobs;
  const { queue, kind, name, priority, tags, spec } = encodeSpec({ ...first, input: null });
  const specs = jobs.map((job) => withKey(withInput(spec, job), job.unique));
  const document = JSON.stringify(specs);
  if (document.length > MAX_DOCUMENT_LENGTH) return null;
  const times = [first.runAt, first.delayMs, first.startTimeoutMs];
  return [queue, kind, name, priority, texts(tags), document, lane, ...times, ownFlags(first)];
}

function withInput(spec: StoredSpec, { input, sealedInput }: NewJob): StoredSpec {
  const own = input === null ? spec : { ...spec, input };
  return sealedInput === null ? own : { ...own, sealed_input: sealedInput };
}

function isAlike(a: NewJob, b: NewJob): boolean {
  return a.runAt === b.runAt && a.delayMs === b.delayMs && a.unique === b.unique && sameButInput(a, b);
}

/** Announces new jobs. `workSent`: other processes have been told that there is work. */
export function announce({ hints }: Context, stored: readonly Job[], { workSent = false } = {}): void {
  const scheduled = stored.filter(({ status }) => status === 'scheduled');
  const work = stored.some(({ status }) => status === 'pending');
  const jobs = stored.slice(0, 1_000).map(({ id }) => id);
  const dueAt = scheduled.length === 0 ? null : scheduled.reduce((min, { dueAt }) => Math.min(min, dueAt), Infinity);
  hints.announce({ work, jobs, dueAt }, { workSent });
}

/** The columns that every new job has, in the order of the statements. */
export function columnsOf(jobs: readonly NewJob[], lanes: readonly number[]): unknown[] {
  const specs = jobs.map(encodeSpec);
  return [
    texts(specs.map(({ queue }) => queue)),
    texts(specs.map(({ kind }) => kind)),
    texts(specs.map(({ name }) => name)),
    numbers(specs.map(({ priority }) => priority)),
    texts(specs.map(({ tags }) => (tags.length === 0 ? null : texts(tags)))),
    jsons(specs.map(({ spec }, place) => withKey(spec, jobs[place]?.unique ?? null))),
    numbers(lanes),
    numbers(jobs.map(({ runAt }) => runAt)),
    numbers(jobs.map(({ delayMs }) => delayMs)),
    numbers(jobs.map(({ startTimeoutMs }) => startTimeoutMs)),
  ];
}

export function withKey(spec: StoredSpec, unique: NewJob['unique']): StoredSpec {
  if (unique === null) return spec;
  const { key, after } = unique;
  return after === undefined ? { ...spec, unique_key: key } : { ...spec, unique_key: key, unique_after: after };
}

/** The flags that follow from the job alone. */
export function ownFlags(job: Pick<NewJob, 'unique' | 'notify' | 'limits' | 'gang' | 'rerun' | 'maxAttempts'>): number {
  const { unique } = job;
  const keyFlag = unique === null || typeof unique.while === 'number' ? 0 : FLAG.holdsKey;
  return keyFlag | specFlags(job) | (mayPrefetch(job) ? 0 : FLAG.neverPrefetched);
}

/** Written out, because a spread takes several times as long and this runs for every job. */
function newlyStored(asked: NewJob, id: number, now: number): Job {
  const dueAt = Math.max(now, asked.runAt ?? now + (asked.delayMs ?? 0));
  return {
    name: asked.name,
    queue: asked.queue,
    priority: asked.priority,
    command: asked.command,
    handler: asked.handler,
    input: asked.input,
    sealInput: asked.sealInput,
    sealedInput: asked.sealedInput,
    maxAttempts: asked.maxAttempts,
    backoff: asked.backoff,
    retryOn: asked.retryOn,
    noRetryOn: asked.noRetryOn,
    timeoutMs: asked.timeoutMs,
    startTimeoutMs: asked.startTimeoutMs,
    killGraceMs: asked.killGraceMs,
    rerun: asked.rerun,
    onDisconnect: asked.onDisconnect,
    env: asked.env,
    cwd: asked.cwd,
    tags: asked.tags,
    requires: asked.requires,
    resources: asked.resources,
    fairKey: asked.fairKey,
    limits: asked.limits,
    rates: asked.rates,
    onLimit: asked.onLimit,
    gang: asked.gang,
    continueOnFailure: asked.continueOnFailure,
    notify: asked.notify,
    tick: asked.tick,
    submittedBy: asked.submittedBy,
    dependsOn: asked.dependsOn,
    id,
    status: dueAt > now ? 'scheduled' : 'pending',
    attempt: 0,
    failures: 0,
    interruptions: 0,
    snoozes: 0,
    losses: 0,
    createdAt: now,
    dueAt,
    startedAt: null,
    doneAt: null,
    workerId: null,
    lastHeartbeatAt: null,
    cancelRequestedAt: null,
    gangStop: false,
    expiresAt: asked.startTimeoutMs === null ? null : dueAt + asked.startTimeoutMs,
    exitCode: null,
    signal: null,
    error: null,
    thrown: null,
    reason: null,
    result: null,
    progress: null,
    checkpoint: null,
    workflowId: null,
    stepKey: null,
    groupId: null,
    groupIndex: null,
    rerunOf: null,
    uniqueKey: asked.unique?.key ?? null,
  };
}
