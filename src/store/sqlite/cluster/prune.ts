/** The reader finds old jobs, which may take long; the writer deletes them. */

import type { Retention } from '../../duty-store.ts';
import { IDEMPOTENCY_MS } from '../../job-store.ts';
import { CREATION_SLACK_MS } from '../../list-bounds.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { lastJobBefore } from '../reads/list.ts';

interface Old {
  jobs: number[];
  workflows: number[];
}

export function findOld({ database, now }: Context, retention: Retention, limit: number): Old {
  const [doneBefore, otherBefore] = [now - retention.doneMs, now - retention.otherMs];
  // A job that ended before an instant was created before it: younger ones are not looked at.
  const upTo = (instant: number) => lastJobBefore(database, instant + CREATION_SLACK_MS);
  const done = database.tuples<[number]>(sql.oldDone, doneBefore, limit, upTo(doneBefore));
  const undone = database.tuples<[number]>(sql.oldUndone, otherBefore, limit - done.length, upTo(otherBefore));
  const jobs = [...done, ...undone].map(([id]) => id);
  const workflows = database.tuples<[number]>(sql.oldWorkflows, doneBefore, otherBefore, limit - jobs.length);
  return { jobs, workflows: workflows.map(([id]) => id) };
}

export function prune(context: Context, retention: Retention, limit: number, old: Old): number {
  const { database, now } = context;
  database.run(sql.pruneKeys, now);
  database.run(sql.pruneIdempotency, now - IDEMPOTENCY_MS);
  database.run(sql.pruneStats, now - retention.statsMs);
  database.run(sql.pruneStarts, now);
  database.run(sql.pruneMeters, now);
  database.run(sql.pruneGangs);
  database.run(sql.pruneAlarms, now - retention.otherMs);
  const before = [now - retention.doneMs, now - retention.otherMs] as const;
  const jobs = old.jobs.length === 0 ? [] : stillOld(context, sql.stillOld, old.jobs, before);
  removeJobs(context, jobs);
  const workflows = old.workflows.length === 0 ? [] : stillOld(context, sql.stillOldWorkflows, old.workflows, before);
  return jobs.length + pruneWorkflows(context, workflows, limit - jobs.length);
}

/** Filters again: a job may have been retried since it was found. */
function stillOld(
  { database }: Context,
  statement: string,
  ids: readonly number[],
  [done, other]: readonly [number, number],
): number[] {
  return database.tuples<[number]>(statement, JSON.stringify(ids), done, other).map(([id]) => id);
}

/** Deletes each workflow as a whole, so the last one may exceed the limit. */
function pruneWorkflows(context: Context, ids: readonly number[], limit: number): number {
  let count = 0;
  for (const id of ids) {
    if (count >= limit) break;
    count += removeWorkflow(context, id);
  }
  return count;
}

/** Deletes an ended workflow, and returns the number of its jobs. */
export function removeWorkflow(context: Context, id: number): number {
  const { database } = context;
  const jobs = database.tuples<[number]>(sql.workflowJobs, id).map(([jobId]) => jobId);
  removeJobs(context, jobs);
  database.run(sql.keepWorkflowOutcome, id);
  database.run(sql.pruneWorkflow, id);
  database.run(sql.pruneWorkflowNotifications, id);
  return jobs.length;
}

/** Deletes ended jobs with all their rows. */
export function removeJobs({ database }: Context, ids: readonly number[]): void {
  if (ids.length === 0) return;
  const gone = JSON.stringify(ids);
  database.run(sql.keepOutcomes, gone);
  database.run(sql.pruneLogs, gone);
  database.run(sql.pruneResults, gone);
  database.run(sql.pruneRuns, gone);
  database.run(sql.pruneKeysOf, gone);
  database.run(sql.pruneNotifications, gone);
  database.run(sql.pruneNotificationsOf, gone);
  database.run(sql.pruneProgress, gone);
  database.run(sql.pruneCheckpoints, gone);
  database.run(sql.pruneGroups, gone);
  database.run(sql.pruneChildEdges, gone);
  database.run(sql.pruneParentEdges, gone);
  database.run(sql.dropCascade, gone);
  database.run(sql.pruneJobs, gone);
}
