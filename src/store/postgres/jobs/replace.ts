/** Waiting jobs that hold a unique key and are replaced by a new job under their id. */

import type { Job, NewJob } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { encodeSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { GraphUpdate } from '../graph/graph-update.ts';
import { edgesOf, insertEdges, placementOf } from '../graph/insert-dependent.ts';
import type { ParentEnds } from '../graph/parents.ts';
import type { Transaction } from '../graph/transaction.ts';
import { decodeJob, type JobRow } from '../reads/job-row.ts';
import { ownFlags, withKey } from './insert-rows.ts';
import type { Holders, InsertPlan } from './plan-insert.ts';

/** Gives the keys of new or replaced jobs to them. */
export async function giveKeys(
  { sql }: Context,
  session: Session,
  takers: readonly { job: NewJob; jobId: number }[],
): Promise<void> {
  const keyed = takers.flatMap(({ job, jobId }) => (job.unique === null ? [] : [{ ...job.unique, jobId }]));
  if (keyed.length === 0) return;
  await session.query(sql.giveKeys, [
    keyed.map(({ key }) => key),
    numbers(keyed.map(({ jobId }) => jobId)),
    keyed.map((unique) => (typeof unique.while === 'number' ? 'time' : unique.while)),
    numbers(keyed.map((unique) => (typeof unique.while === 'number' ? unique.while : null))),
  ]);
}

interface Replacements {
  replacements: InsertPlan['replacements'];
  holders: Holders;
  ends: ParentEnds;
}

/** Overwrites the waiting holders that are to be replaced. Returns all holders as they are then. */
export async function replaceHolders(
  context: Context,
  transaction: Transaction,
  { replacements, holders: { byKey, locked }, ends }: Replacements,
): Promise<ReadonlyMap<number, Job>> {
  const { session, effects } = transaction;
  const ids = [...new Set(byKey.values())];
  if (ids.length === 0) return new Map();
  const read = async () => {
    const rows = await session.query<JobRow>(context.sql.jobs, [numbers(ids)]);
    return new Map(rows.map((row) => [row.id, decodeJob(row)]));
  };
  const before = await read();
  for (const [jobId, { job, lane }] of replacements) {
    await replace(context, session, { job, jobId, lane });
    await relink(context, transaction, { job, jobId, flags: locked.get(jobId) as number, ends });
    effects.claimable(jobId);
  }
  return replacements.size === 0 ? before : await read();
}

async function replace(
  context: Context,
  session: Session,
  { job, jobId, lane }: { job: NewJob; jobId: number; lane: number },
): Promise<void> {
  const { queue, kind, name, priority, tags, spec } = encodeSpec(job);
  const stored = JSON.stringify(withKey(spec, job.unique));
  await session.query(context.sql.replaceJob, [jobId, queue, kind, name, priority, tags, stored]);
  await session.query(context.sql.replaceLive, [
    jobId,
    lane,
    -priority,
    job.runAt,
    job.delayMs,
    job.startTimeoutMs,
    ownFlags(job),
    job.unique?.maxWaitMs ?? null,
  ]);
  await giveKeys(context, session, [{ job, jobId }]);
}

interface Relinked {
  job: NewJob;
  jobId: number;
  /** Before it was replaced. */
  flags: number;
  ends: ParentEnds;
}

/** Gives a replaced job its new dependencies. */
export async function relink(
  context: Context,
  transaction: Transaction,
  { job, jobId, flags, ends }: Relinked,
): Promise<void> {
  const { sql } = context;
  const { session } = transaction;
  if (!(flags & FLAG.hasParents) && job.dependsOn.length === 0) return;
  await session.query(sql.dropEdges, [numbers([jobId])]);
  await insertEdges(context, session, edgesOf(jobId, job.dependsOn, ends));
  const { counters, fate } = placementOf(job.dependsOn, ends, 'each');
  if (fate === 'upstream_failed' || fate === 'condition') {
    await session.query(sql.skipLive, [jobId, fate]);
    const own =
      (flags & ~(FLAG.holdsKey | FLAG.notifiesFailure | FLAG.notifiesSuccess | FLAG.notifiesCancel | FLAG.hasLimits)) |
      ownFlags(job);
    const update = new GraphUpdate(context, transaction);
    await update.ended([{ jobId, flags: own, status: 'skipped', keepChildren: false }]);
    await update.write();
    return;
  }
  const { open, held, broken, missed } = counters;
  const parentFlag = job.dependsOn.length === 0 ? 0 : FLAG.hasParents;
  await session.query(sql.relinkLive, [jobId, fate, open, held, broken, missed, parentFlag]);
}
