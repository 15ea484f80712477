import { WorkronError } from '../../core/error.ts';
import { isWaiting, type NewJob } from '../../core/job.ts';
import { laneKey, laneOf } from '../../core/lane.ts';
import { IDEMPOTENCY_MS, type Inserted, type InsertOptions } from '../store.ts';
import { copySpec } from './copy.ts';
import type { Entry } from './entry.ts';
import { change, type IdempotentAnswer, jobOf, putBack, type Tables } from './tables.ts';
import { holderOf, takeKey } from './unique.ts';

export function insert(tables: Tables, jobs: readonly NewJob[], { idempotency }: InsertOptions): Inserted {
  const now = tables.clock.now();
  if (idempotency !== undefined) {
    const answered = answeredBefore(tables, idempotency, now);
    if (answered !== undefined) return { items: replay(tables, answered), replayed: true };
  }
  refuseConflicts(tables, jobs, now);
  const items = jobs.map((job) => insertOne(tables, job, now));
  if (idempotency !== undefined) {
    tables.idempotency.set(idempotency.key, {
      fingerprint: idempotency.fingerprint,
      items: items.map(({ job, deduplicated }) => ({ jobId: job.id, deduplicated })),
      createdAt: now,
    });
  }
  return { items, replayed: false };
}

function answeredBefore(
  tables: Tables,
  { key, fingerprint }: { key: string; fingerprint: string },
  now: number,
): IdempotentAnswer | undefined {
  const answer = tables.idempotency.get(key);
  if (answer === undefined || answer.createdAt + IDEMPOTENCY_MS <= now) return undefined;
  if (answer.fingerprint !== fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  return answer;
}

/** The jobs as they are now; what retention has deleted meanwhile is left out. */
function replay(tables: Tables, answer: IdempotentAnswer): Inserted['items'] {
  return answer.items.flatMap(({ jobId, deduplicated }) => {
    const entry = tables.jobs.get(jobId);
    return entry === undefined ? [] : [{ job: jobOf(tables, entry), deduplicated }];
  });
}

/** Before anything is stored, so that all or none is. */
function refuseConflicts(tables: Tables, jobs: readonly NewJob[], now: number): void {
  const keys = new Set<string>();
  for (const { unique } of jobs) {
    if (unique === null) continue;
    const holder = holderOf(tables, unique.key, now);
    if (unique.onConflict === 'reject' && (holder !== undefined || keys.has(unique.key))) {
      const by = holder === undefined ? 'an earlier job of this request' : `job ${holder.jobId}`;
      throw new WorkronError(
        'unique_conflict',
        `The unique key ${JSON.stringify(unique.key)} is held by ${by}`,
        holder === undefined ? {} : { jobId: holder.jobId },
      );
    }
    keys.add(unique.key);
  }
}

function insertOne(tables: Tables, job: NewJob, now: number): Inserted['items'][number] {
  const held = job.unique === null ? undefined : holderOf(tables, job.unique.key, now);
  const holder = held === undefined ? undefined : tables.jobs.get(held.jobId);
  if (holder !== undefined) {
    if (job.unique?.onConflict === 'replace' && isWaiting(holder.status)) replace(tables, holder, job, now);
    return { job: jobOf(tables, holder), deduplicated: true };
  }
  const entry: Entry = {
    ...asked(job, now),
    id: (tables.lastId.job += 1),
    createdAt: now,
    attempt: 0,
    workerId: null,
    startedAt: null,
    claimSeq: null,
    renewedAt: null,
    cancelRequestedAt: null,
    doneAt: null,
    reason: null,
    end: null,
    result: null,
    attempts: [],
    logs: new Map(),
  };
  tables.jobs.set(entry.id, entry);
  putBack(tables, entry);
  takeKey(tables, entry, job.unique, now);
  tell(tables, entry);
  return { job: jobOf(tables, entry), deduplicated: false };
}

function replace(tables: Tables, holder: Entry, job: NewJob, now: number): void {
  change(tables, holder, asked(job, now));
  takeKey(tables, holder, job.unique, now);
  tell(tables, holder);
}

/** The part of an entry that follows from what was asked for. */
function asked(job: NewJob, now: number) {
  const dueAt = Math.max(now, job.runAt ?? now + (job.delayMs ?? 0));
  return {
    spec: copySpec(job),
    lane: laneKey(laneOf(job)),
    status: dueAt > now ? 'scheduled' : 'pending',
    dueAt,
    expiresAt: job.startTimeoutMs === null ? null : dueAt + job.startTimeoutMs,
    counters: { failures: 0, interruptions: 0, snoozes: 0, losses: 0 },
    uniqueKey: job.unique?.key ?? null,
  } as const satisfies Partial<Entry>;
}

function tell({ hints }: Tables, entry: Entry): void {
  if (entry.status === 'scheduled') hints.due(entry.dueAt);
  else hints.work();
  hints.job(entry.id);
}
