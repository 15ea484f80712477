/**
 * Stores jobs while a worker of this process waits for them, and claims them in the same statement: one commit instead of
 * two. Only in the simple case: the jobs are alike and due, and no other job waits that could be more urgent.
 */

import type { ClaimedJob, Job, NewJob } from '../../../core/job.ts';
import { needsResources, serves } from '../../../core/lane.ts';
import type { ClaimRequest, InsertedAndClaimed } from '../../job-store.ts';
import { claimedJob, encodeSpec, type SpecColumns } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import { numbers } from '../base/values.ts';
import { giveLateTurns, insert, lanesOf, takesTurns } from './insert.ts';
import { alikeColumns, announce, areAlike, PIECE, type StoredRow, storedJobs } from './insert-rows.ts';

interface Row extends StoredRow {
  /** The number of jobs that could be claimed if they were due. */
  room: number;
  /** The row of `claim`; `null` if none was claimed. */
  claim: number | null;
}

export async function insertAndClaim(
  context: Context,
  jobs: readonly NewJob[],
  request: ClaimRequest,
  signal: AbortSignal,
): Promise<InsertedAndClaimed> {
  const { database, sql, lanes, fairQueues, openClaims } = context;
  const [lane] = await lanesOf(context, jobs.slice(0, 1), signal);
  const mayClaim = lane !== undefined && isPlain(context, jobs) && mayHand(context, lane, request);
  const columns = mayClaim && areAlike(jobs) ? alikeColumns(jobs, lane) : null;
  if (columns === null) {
    const { items } = await insert(context, jobs, {}, signal);
    return { items, claimed: [] };
  }
  const { workerId, claimSeq, limit, offer } = request;
  const served = numbers(lanes.servedBy(offer).map(({ id }) => id));
  const ended = numbers(openClaims.takeEnded(workerId));
  const values = [...columns, workerId, claimSeq, limit, served, lanes.last, ended];
  const [row] = await database.query<Row>(sql.insertAndClaim, values, signal);
  const stored = storedJobs(fairQueues, jobs, row);
  const handed = stored.filter(({ status }, place) => status === 'pending' && place < (row?.room ?? 0));
  const claimed = handed.map(claimedFrom);
  if (row?.claim != null) openClaims.open({ workerId, id: row.claim }, claimed);
  const others = stored.slice(handed.length);
  await giveLateTurns(context, others, signal);
  if (others.length > 0) announce(context, others);
  if (handed.length > 0) context.hints.announce({ jobs: handed.map(({ id }) => id) });
  return { items: stored.map((job) => ({ job, deduplicated: false })), claimed };
}

function isPlain(context: Context, jobs: readonly NewJob[]): boolean {
  const standAlone = jobs.every(({ unique, dependsOn }) => unique === null && dependsOn.length === 0);
  return standAlone && jobs.length <= PIECE && !takesTurns(context, jobs);
}

/** The statement checks limits and pauses, as other processes may change them at any time. */
function mayHand({ lanes }: Context, laneId: number, { offer, claimSeq, prefetch = false }: ClaimRequest): boolean {
  const lane = lanes.lane(laneId);
  return (
    lane !== undefined &&
    claimSeq !== null &&
    !prefetch &&
    serves(offer, lane) &&
    !needsResources(lane) &&
    !lane.metered
  );
}

/** The worker gets what it would read from the store, not objects that the submitter still holds. */
function claimedFrom(job: Job): ClaimedJob {
  const columns = JSON.parse(JSON.stringify(encodeSpec(job))) as SpecColumns;
  const { id, failures, dueAt, createdAt: startedAt } = job;
  return claimedJob(columns, { id, attempt: 1, failures, dueAt, startedAt });
}
