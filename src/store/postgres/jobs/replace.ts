/** Waiting jobs that hold a unique key and are replaced by a new job under their id. */

import type { Job, NewJob } from '../../../core/job.ts';
import type { ParentEnds } from '../../engine/graph/edges.ts';
import { relink } from '../../engine/graph/relink.ts';
import { readJobs } from '../../engine/reads.ts';
import { FLAG } from '../../flags.ts';
import { encodeSpec } from '../../spec.ts';
import type { Tx } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
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

/** Flags that follow from the job itself. */
const OF_JOB = FLAG.holdsKey | FLAG.notifiesFailure | FLAG.notifiesSuccess | FLAG.notifiesCancel | FLAG.hasLimits;

interface Replacements {
  replacements: InsertPlan['replacements'];
  holders: Holders;
  ends: ParentEnds;
}

/** Overwrites the waiting holders that are to be replaced. Returns all holders as they are then. */
export async function replaceHolders(
  context: Context,
  { tx, session }: { tx: Tx; session: Session },
  { replacements, holders: { byKey, locked }, ends }: Replacements,
): Promise<ReadonlyMap<number, Job>> {
  const ids = [...new Set(byKey.values())];
  if (ids.length === 0) return new Map();
  const read = async () => new Map((await readJobs(tx, ids)).map((job) => [job.id, job]));
  const before = await read();
  for (const [jobId, { job, lane }] of replacements) {
    await replace(context, session, { job, jobId, lane });
    const flags = ((locked.get(jobId) as number) & ~OF_JOB) | ownFlags(job);
    await relink(tx, { jobId, flags, dependsOn: job.dependsOn, ends });
    tx.graphUpdate.claimable(jobId);
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
