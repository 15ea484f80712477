/**
 * Plans an insert of jobs that share unique keys within one call, as if each had been submitted after the previous one. The
 * plan has to know which jobs are skipped at once, because those release their key.
 */

import type { NewJob } from '../../../core/job.ts';
import { following, followsRunning, replacesWaiting } from '../../../core/unique.ts';
import { type ParentEnds, placementOf } from '../../engine/graph/edges.ts';

export interface Holders {
  byKey: ReadonlyMap<string, number>;
  /** The flags of the waiting holders, which can be replaced. */
  locked: ReadonlyMap<number, number>;
  /** The holders that run, among those that would be replaced if they waited. */
  running: ReadonlySet<number>;
  /** The jobs whose end waiting holders wait for, because those held the key before. */
  afters: ReadonlyMap<number, number>;
}

interface Placed {
  job: NewJob;
  lane: number;
}

export interface InsertPlan {
  /** New jobs to be stored. */
  fresh: Placed[];
  /** Indexes in `fresh` of the jobs that hold a key in the end, or held it last. */
  takers: ReadonlySet<number>;
  /** Holders that are overwritten, each by the last job that replaces it. */
  replacements: ReadonlyMap<number, Placed>;
  /** The answer to each job: an index in `fresh`, or the id of a holder. */
  answers: ({ fresh: number } | { held: number })[];
  /** True for each job that was not stored because another holds its key. */
  deduplicated: boolean[];
  /** Running holders that are asked to stop. */
  superseded: ReadonlySet<number>;
  /** Queues of all jobs with a fair key, also of those that a later job of the call replaced. */
  fairQueues: ReadonlySet<string>;
}

export function planInsert(asked: readonly Placed[], holders: Holders, ends: ParentEnds): InsertPlan {
  const { byKey, locked, running, afters } = holders;
  const fresh: Placed[] = [];
  const takers = new Map<string, number>();
  const replacements = new Map<number, Placed>();
  const deduplicated: boolean[] = [];
  const fairQueues = new Set<string>();
  const superseded = new Set<number>();
  /** The holders of keys at this point of the plan. */
  const now = new Map<string, { fresh: number } | { held: number }>();
  for (const [key, held] of byKey) now.set(key, { held });
  /** Holders that do not wait and cannot be replaced. */
  const over = new Set([...byKey.values()].filter((id) => !locked.has(id)));
  const ended = new Set<number>();

  const answers = asked.map((placed): { fresh: number } | { held: number } => {
    const { unique } = placed.job;
    const before = unique === null ? undefined : now.get(unique.key);
    // It waits for the end of the one that runs, and takes its key.
    const followed = before !== undefined && 'held' in before && running.has(before.held) && followsRunning(unique);
    if (followed && unique?.onConflict === 'supersede') superseded.add(before.held);
    const holder = followed ? undefined : before;
    deduplicated.push(holder !== undefined);
    const isSkipped = skips(placed.job, ends);
    const letsGo = isSkipped && typeof unique?.while !== 'number';
    const { fairKey, queue } = placed.job;
    if (holder === undefined) {
      if (fairKey !== null) fairQueues.add(queue);
      const place = fresh.push(followed ? after(placed, before.held) : placed) - 1;
      if (unique === null) return { fresh: place };
      takers.set(unique.key, place);
      if (letsGo) now.delete(unique.key);
      else now.set(unique.key, { fresh: place });
      if (isSkipped) ended.add(place);
      return { fresh: place };
    }
    const waits = 'held' in holder ? !over.has(holder.held) : !ended.has(holder.fresh);
    if (unique === null || !replacesWaiting(unique) || !waits) return holder;
    if (fairKey !== null) fairQueues.add(queue);
    if (letsGo) now.delete(unique.key);
    if ('held' in holder) {
      replacements.set(holder.held, after(placed, afters.get(holder.held) ?? null));
      if (isSkipped) over.add(holder.held);
    } else {
      fresh[holder.fresh] = after(placed, fresh[holder.fresh]?.job.unique?.after ?? null);
      if (isSkipped) ended.add(holder.fresh);
    }
    return holder;
  });
  return { fresh, takers: new Set(takers.values()), replacements, answers, deduplicated, superseded, fairQueues };
}

function after({ job, lane }: Placed, jobId: number | null): Placed {
  return { job: following(job, jobId), lane };
}

function skips({ dependsOn }: NewJob, ends: ParentEnds): boolean {
  if (dependsOn.length === 0) return false;
  const { fate } = placementOf(dependsOn, ends, 'each');
  return fate === 'upstream_failed' || fate === 'condition';
}
