/** Jobs in a transaction of the application's own, on another connection to the same file. */

import type { Clock } from '../../../core/clock.ts';
import { WorkronError } from '../../../core/error.ts';
import type { NewJob, Unique } from '../../../core/job.ts';
import type { Success } from '../../../core/lease.ts';
import { FLAG, LINKED, watchFlags } from '../../flags.ts';
import { keyHeld, refuseReplace, unknownParents } from '../../refusals.ts';
import { encodeSpec } from '../../spec.ts';
import type { Enlisted, RunStatement, Transactional } from '../../transactional.ts';
import { sql } from '../base/sql.ts';
import { encodeDependencies } from '../jobs/new-job-row.ts';

/** Jobs are judged after the commit, because only the writer's thread knows the lanes. */
export function transactional(clock: Clock): Transactional {
  return {
    async enlist(run, jobs) {
      for (const { unique } of jobs) refuseReplace(unique);
      await requireParents(run, jobs);
      const enlisted: Enlisted[] = [];
      for (const job of jobs) enlisted.push(await enlistOne(run, job, clock.now()));
      return enlisted;
    },
    complete: (run, success) => complete(run, success, clock.now()),
  };
}

async function enlistOne(run: RunStatement, job: NewJob, now: number): Promise<Enlisted> {
  const { unique } = job;
  if (unique !== null) {
    const [holder] = (await run(sql.keyHolders, [unique.key, now])) as { job_id: number }[];
    if (holder !== undefined) return taken(unique, holder.job_id);
  }
  const { queue, kind, name, priority, tags, spec } = encodeSpec(job);
  const stored = JSON.stringify(unique === null ? spec : { ...spec, unique_key: unique.key });
  const values = [queue, kind, name, priority, JSON.stringify(tags), now, stored];
  const [row] = (await run(sql.enlistJob, values)) as { id: number }[];
  const id = Number(row?.id);
  const due = Math.max(now, Math.round(job.runAt ?? now + (job.delayMs ?? 0)));
  const holdsKey = unique !== null && typeof unique.while !== 'number';
  await run(sql.enlistLive, [
    id,
    -priority,
    due,
    FLAG.unjudged | watchFlags(job.notify) | (holdsKey ? FLAG.holdsKey : 0),
  ]);
  await run(sql.enlistIntake, [id, 'submitted', JSON.stringify({ depends_on: encodeDependencies(job) })]);
  if (unique !== null) {
    const [hold, until] = typeof unique.while === 'number' ? ['time', now + unique.while] : [unique.while, null];
    await run(sql.giveKeys, [unique.key, id, hold, until]);
  }
  return { id, deduplicated: false };
}

function taken({ key, onConflict }: Unique, jobId: number): Enlisted {
  if (onConflict !== 'reject') return { id: jobId, deduplicated: true };
  throw keyHeld(key, jobId);
}

async function requireParents(run: RunStatement, jobs: readonly NewJob[]): Promise<void> {
  const ids = [...new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)))];
  if (ids.length === 0) return;
  const rows = await run('select id from job where id in (select value from json_each(?))', [JSON.stringify(ids)]);
  const known = new Set((rows as { id: number }[]).map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw unknownParents(unknown.sort((a, b) => a - b));
}

interface GoneRow {
  flags: number;
  /** `null` if no start was reported. */
  started_at: number | null;
  due: number;
  failures: number;
  interruptions: number;
  snoozes: number;
  losses: number;
  cancel_requested_at: number | null;
}

async function complete(run: RunStatement, success: Success, now: number): Promise<void> {
  const { jobId, attempt, workerId, result } = success;
  const [gone] = (await run(sql.completeLive, [jobId, attempt, workerId])) as GoneRow[];
  if (gone === undefined) {
    throw new WorkronError('lease_lost', `Attempt ${attempt} of job ${jobId} is no longer this worker's`, { jobId });
  }
  const { failures, interruptions, snoozes, losses } = gone;
  const counters = [failures, interruptions, snoozes, losses];
  const times = [gone.started_at ?? now, now, gone.due];
  await run(sql.completeRun, [jobId, attempt, workerId, ...times, ...counters, gone.cancel_requested_at]);
  if (result !== undefined && result !== null) await run(sql.completeResult, [jobId, JSON.stringify(result)]);
  if (gone.flags & FLAG.holdsKey) await run(sql.completeKeys, [jobId]);
  if (gone.flags & (LINKED | FLAG.group)) {
    await run(sql.enlistIntake, [jobId, 'ended', JSON.stringify({ flags: gone.flags })]);
  }
}
