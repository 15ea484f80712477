import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { removeJobs, removeWorkflow } from '../cluster/prune.ts';

/** Adding a child to an ended job takes the same lock as this, so none can appear after the check. */
export async function deleteJobs(context: Context, ids: readonly number[], signal: AbortSignal): Promise<number[]> {
  const { database, sql } = context;
  return await database.transaction(signal, async (session) => {
    const ended = await session.query<{ job_id: number }>(sql.lockEnded, [numbers(ids)]);
    const locked = numbers(ended.map(({ job_id }) => job_id));
    const deletable = await session.query<{ job_id: number }>(sql.deletableJobs, [locked]);
    const gone = deletable.map(({ job_id }) => job_id);
    if (gone.length > 0) await removeJobs(context, session, gone);
    return gone;
  });
}

export async function deleteWorkflow(context: Context, id: number, signal: AbortSignal): Promise<boolean> {
  const { database, sql } = context;
  return await database.transaction(signal, async (session) => {
    const jobs = await session.query<{ id: number }>(sql.workflowJobs, [id]);
    const ids = jobs.map((job) => job.id);
    const ended = await session.query(sql.lockEnded, [numbers(ids)]);
    const [workflow] = await session.query(sql.lockEndedWorkflow, [id]);
    if (workflow === undefined || ended.length < ids.length) return false;
    if ((await session.query(sql.deletableWorkflow, [id])).length === 0) return false;
    await removeWorkflow(context, session, id, ids);
    return true;
  });
}
