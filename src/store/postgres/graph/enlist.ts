/**
 * Jobs in transactions of the application's own, through the functions of the schema. Values go in as text and numbers:
 * drivers disagree on how JSON and arrays are written.
 */

import { WorkronError } from '../../../core/error.ts';
import type { NewJob } from '../../../core/job.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import type { Success } from '../../../core/lease.ts';
import { addFairQueues } from '../../engine/turns.ts';
import { refuseReplace, unknownParents } from '../../refusals.ts';
import { encodeSpec } from '../../spec.ts';
import type { Enlisted, RunStatement } from '../../transactional.ts';
import type { Context } from '../base/context.ts';
import { txOn } from '../base/engine.ts';
import { numbers } from '../base/values.ts';
import { ownFlags } from '../jobs/insert-rows.ts';

type Row = { place: number | string; job_id: number | string; deduplicated: boolean };

export async function enlist(
  context: Context,
  run: RunStatement,
  jobs: readonly NewJob[],
  signal: AbortSignal,
): Promise<Enlisted[]> {
  const { schema, lanes } = context;
  for (const { unique } of jobs) refuseReplace(unique);
  // On a connection of our own: a new lane blocks other transactions, so it must not wait for the application's commit.
  await lanes.idsOf(
    jobs.map((job) => laneKey(laneOf(job))),
    signal,
  );
  await noteFairQueues(context, jobs, signal);
  await requireParents(run, schema, jobs);
  const written = JSON.stringify(jobs.map(encode));
  const rows = (await withStoreErrors(async () =>
    run(`select place, job_id, deduplicated from ${schema}.enqueue(($1::text)::jsonb)`, [written]),
  )) as Row[];
  return rows
    .map(({ place, job_id, deduplicated }) => ({ place: Number(place), id: Number(job_id), deduplicated }))
    .sort((a, b) => a.place - b.place)
    .map(({ id, deduplicated }) => ({ id, deduplicated }));
}

export async function complete(
  { schema }: Context,
  run: RunStatement,
  { jobId, attempt, workerId, result }: Success,
): Promise<void> {
  const value = result === undefined || result === null ? null : JSON.stringify(result);
  const text = `select ${schema}.complete($1::bigint, $2::integer, $3::integer, ($4::text)::jsonb) as held`;
  const [row] = (await run(text, [jobId, attempt, workerId, value])) as { held: boolean }[];
  if (row?.held !== true) {
    throw new WorkronError('lease_lost', `Attempt ${attempt} of job ${jobId} is no longer this worker's`, { jobId });
  }
}

/** Makes queues take turns, on a connection of our own. That does no harm if the jobs are not committed. */
async function noteFairQueues(context: Context, jobs: readonly NewJob[], signal: AbortSignal): Promise<void> {
  const { database, fairQueues } = context;
  const keyed = jobs.filter(({ fairKey, queue }) => fairKey !== null && !fairQueues.has(queue));
  if (keyed.length === 0) return;
  const names = [...new Set(keyed.map(({ queue }) => queue))];
  await txOn(context, database.session(signal)).run(addFairQueues(names));
  fairQueues.learn(names);
}

/** Read in the application's transaction, which may have submitted some of them itself. */
async function requireParents(run: RunStatement, schema: string, jobs: readonly NewJob[]): Promise<void> {
  const ids = [...new Set(jobs.flatMap(({ dependsOn }) => dependsOn.map(({ jobId }) => jobId)))];
  if (ids.length === 0) return;
  const rows = (await run(`select id from ${schema}.job where id = any(($1::text)::bigint[])`, [numbers(ids)])) as {
    id: unknown;
  }[];
  const known = new Set(rows.map(({ id }) => Number(id)));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) throw unknownParents(unknown.sort((a, b) => a - b));
}

function encode(job: NewJob): object {
  const { spec, ...columns } = encodeSpec(job);
  const { unique, dependsOn, runAt, delayMs, startTimeoutMs } = job;
  return {
    ...columns,
    spec: unique === null ? spec : { ...spec, unique_key: unique.key },
    flags: ownFlags(job),
    lane_key: laneKey(laneOf(job)),
    ...(runAt === null ? {} : { run_at: runAt }),
    ...(delayMs === null ? {} : { delay_ms: delayMs }),
    ...(startTimeoutMs === null ? {} : { start_timeout_ms: startTimeoutMs }),
    ...(dependsOn.length === 0 ? {} : { depends_on: dependsOn.map(({ jobId, condition }) => [jobId, condition]) }),
    ...(unique === null
      ? {}
      : {
          unique: {
            key: unique.key,
            on_conflict: unique.onConflict,
            ...(typeof unique.while === 'number' ? { hold: 'time', hold_ms: unique.while } : { hold: unique.while }),
          },
        }),
  };
}

/** Errors of the schema's functions start with one of Workron's codes. */
async function withStoreErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const found = /unique_conflict: (.*)/.exec(message)?.[1];
    if (found === undefined) throw error;
    throw new WorkronError('unique_conflict', `${found[0]?.toUpperCase()}${found.slice(1)}`, { cause: error });
  }
}
