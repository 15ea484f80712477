import { judgeEdges, judgeModeOf } from '../../../core/dag/judge.ts';
import { isTerminal, isWaiting, type NewJob } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { dueOfReplaced, following, followsRunning, isForeign, replacesWaiting } from '../../../core/unique.ts';
import type { Inserted, JobInsertOptions } from '../../job-store.ts';
import { keyHeld, keyHeldElsewhere, tooYoungParent, unknownParents } from '../../refusals.ts';
import { copySpec } from '../base/copy.ts';
import type { Entry } from '../base/entry.ts';
import { change, type IdempotentAnswer, jobOf, type Tables } from '../base/tables.ts';
import { link, unlink } from '../graph/edges.ts';
import { end } from './finish.ts';
import { free } from './free.ts';
import { answeredBefore } from './idempotency.ts';
import { addEntry } from './new-entry.ts';
import { noticeFairKey } from './turns.ts';
import { holderOf, takeKey } from './unique.ts';

export function insert(tables: Tables, jobs: readonly NewJob[], { idempotency, rerunOf }: JobInsertOptions): Inserted {
  const now = tables.clock.now();
  const answered = idempotency === undefined ? undefined : answeredBefore(tables, idempotency);
  if (answered !== undefined) return { items: replay(tables, answered), replayed: true };
  refuseUnknown(tables, jobs);
  refuseConflicts(tables, jobs, now);
  const items = jobs.map((job) => insertOne(tables, job, { now, rerunOf }));
  if (idempotency !== undefined) {
    tables.idempotency.set(idempotency.key, {
      fingerprint: idempotency.fingerprint,
      items: items.map(({ job, deduplicated }) => ({ jobId: job.id, deduplicated })),
      workflowId: null,
      createdAt: now,
    });
  }
  return { items, replayed: false };
}

/** The jobs as they are now, without those that retention has deleted. */
function replay(tables: Tables, answer: IdempotentAnswer): Inserted['items'] {
  return answer.items.flatMap(({ jobId, deduplicated }) => {
    const entry = tables.jobs.get(jobId);
    return entry === undefined ? [] : [{ job: jobOf(tables, entry), deduplicated }];
  });
}

/** Checked before anything is stored, so that all jobs or none are stored. */
function refuseUnknown(tables: Tables, jobs: readonly NewJob[]): void {
  const parents = new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)));
  const unknown = [...parents].filter((id) => !tables.jobs.has(id));
  if (unknown.length > 0) throw unknownParents(unknown.sort((a, b) => a - b));
}

/** Checked before anything is stored. */
function refuseConflicts(tables: Tables, jobs: readonly NewJob[], now: number): void {
  const keys = new Set<string>();
  for (const { unique, dependsOn } of jobs) {
    if (unique === null) continue;
    const holder = holderOf(tables, unique.key, now);
    if (unique.onConflict === 'reject' && (holder !== undefined || keys.has(unique.key))) {
      throw keyHeld(unique.key, holder?.jobId);
    }
    keys.add(unique.key);
    const queue = holder === undefined ? undefined : tables.jobs.get(holder.jobId)?.spec.queue;
    if (holder !== undefined && queue !== undefined && isForeign(unique, queue)) {
      throw keyHeldElsewhere(unique.key, holder.jobId, queue);
    }
    const replaced = replacesWaiting(unique) && holder !== undefined ? tables.jobs.get(holder.jobId) : undefined;
    if (replaced === undefined || !isWaiting(replaced.status)) continue;
    const young = dependsOn.find(({ jobId }) => jobId >= replaced.id);
    if (young !== undefined) throw tooYoungParent(replaced.id, young.jobId);
  }
}

function insertOne(
  tables: Tables,
  job: NewJob,
  { now, rerunOf }: { now: number; rerunOf: number | undefined },
): Inserted['items'][number] {
  const held = job.unique === null ? undefined : holderOf(tables, job.unique.key, now);
  const holder = held === undefined ? undefined : tables.jobs.get(held.jobId);
  if (holder !== undefined && !(followsRunning(job.unique) && holder.status === 'running')) {
    if (replacesWaiting(job.unique) && isWaiting(holder.status)) {
      replace(tables, holder, following(job, unfinished(tables, holder.uniqueAfter)));
    }
    return { job: jobOf(tables, holder), deduplicated: true };
  }
  if (holder !== undefined && job.unique?.onConflict === 'supersede') askToStop(tables, holder);
  const uniqueKey = job.unique?.key ?? null;
  const origin = { rerunOf: rerunOf ?? null };
  const entry = addEntry(tables, { spec: copySpec(job), dueAt: dueOf(job, now), uniqueKey, origin });
  admit(tables, entry, following(job, holder?.id ?? null));
  return { job: jobOf(tables, entry), deduplicated: false };
}

/** The id, if that job has not ended. */
function unfinished(tables: Tables, id: number | null): number | null {
  const entry = id === null ? undefined : tables.jobs.get(id);
  return entry === undefined || isTerminal(entry.status) ? null : entry.id;
}

function askToStop(tables: Tables, entry: Entry): void {
  if (entry.cancelRequestedAt !== null) return;
  entry.cancelRequestedAt = tables.clock.now();
  if (entry.workerId !== null) tables.changes.changedWorker(entry.workerId);
  tables.changes.changedJob(entry.id);
}

function replace(tables: Tables, holder: Entry, job: NewJob): void {
  const now = tables.clock.now();
  unlink(tables, holder);
  noticeFairKey(tables, job);
  change(tables, holder, {
    spec: copySpec(job),
    lane: laneKey(laneOf(job)),
    status: 'blocked',
    turn: 0,
    turnKey: null,
    dueAt: dueOfReplaced(job.unique, { dueAt: dueOf(job, now), createdAt: holder.createdAt, now }),
    expiresAt: null,
    counters: { failures: 0, interruptions: 0, snoozes: 0, losses: 0 },
    uniqueKey: job.unique?.key ?? null,
  });
  admit(tables, holder, job);
}

/** Gives a new or replaced job its edges and its unique key. */
function admit(tables: Tables, entry: Entry, job: NewJob): void {
  link(tables, entry, job.dependsOn);
  takeKey(tables, entry, job.unique, tables.clock.now());
  entry.uniqueAfter = job.unique?.after ?? null;
  launch(tables, entry);
}

/** Judges a job for the first time. */
export function launch(tables: Tables, entry: Entry): void {
  const fate = judgeEdges(entry.edges, judgeModeOf(entry));
  if (typeof fate === 'object') end(tables, entry, { status: 'skipped', reason: fate.skip, record: null, error: null });
  else if (fate === 'free') free(tables, entry);
  else tables.changes.changedJob(entry.id);
}

export function dueOf(job: NewJob, now: number): number {
  return Math.max(now, job.runAt ?? now + (job.delayMs ?? 0));
}
