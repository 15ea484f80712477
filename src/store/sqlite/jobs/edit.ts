import type { Status } from '../../../core/job.ts';
import type { JobEdit } from '../../../core/job-edit.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { encodeSpec, type StoredSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';
import { decodeSpecRow, type JobRow, type SpecRow } from '../reads/job-row.ts';
import { read } from '../reads/reading.ts';

interface WaitingRow {
  status: Status;
  due: number;
  expires_at: number | null;
  created_at: number;
}

/** Changes the job and its live row together, so that a claim gets the edited job. */
export function edit(context: Context, jobId: number, wanted: JobEdit): JobRow | undefined {
  const { database, lanes, fairQueues, effects, graphUpdate } = context;
  const waiting = database.get<WaitingRow>(sql.waiting, jobId);
  const [row] = database.tuples<SpecRow>(sql.specs, jobId);
  if (waiting === undefined || row === undefined) return undefined;

  const { runAt, ...fields } = wanted;
  const spec = { ...decodeSpecRow(row), ...fields };
  const { queue, kind, name, priority, tags, spec: stored } = encodeSpec(spec);
  const [, , , , , storedBefore] = row;
  const { unique_key, unique_after, item } = JSON.parse(storedBefore) as StoredSpec;
  if (unique_key !== undefined) stored['unique_key'] = unique_key;
  if (unique_after !== undefined) stored['unique_after'] = unique_after;
  if (item !== undefined) stored['item'] = item;
  database.run(sql.replaceJob, jobId, queue, kind, name, priority, JSON.stringify(tags), JSON.stringify(stored));

  const place = runAt === undefined ? waiting : moved(context, { waiting, runAt, startTimeoutMs: spec.startTimeoutMs });
  const lane = lanes.idOf(laneKey(laneOf(spec)));
  if (spec.fairKey !== null) fairQueues.add(spec.queue);
  // A moved job gets a new turn.
  const isMoved = runAt !== undefined || fields.queue !== undefined || fields.priority !== undefined;
  database.run(sql.editLive, jobId, lane, -priority, place.status, place.due, place.expires_at, isMoved ? 1 : 0);
  if (isMoved) graphUpdate.claimable(jobId);
  if (place.status === 'scheduled') effects.willBeDue(place.due);
  else effects.madeWork();
  effects.changedJob(jobId);
  return read(context, [jobId])[0];
}

function moved(
  { now }: Context,
  { waiting, runAt, startTimeoutMs }: { waiting: WaitingRow; runAt: number; startTimeoutMs: number | null },
): Pick<WaitingRow, 'status' | 'due' | 'expires_at'> {
  const due = Math.max(Math.round(runAt), waiting.created_at);
  return {
    status: waiting.status === 'blocked' ? 'blocked' : due > now ? 'scheduled' : 'pending',
    due,
    expires_at: waiting.expires_at === null || startTimeoutMs === null ? null : due + Math.round(startTimeoutMs),
  };
}
