import type { Job, JobSpec } from '../../../core/job.ts';
import type { JobEdit } from '../../../core/job-edit.ts';
import { laneKey, laneOf } from '../../../core/lane.ts';
import { mayPrefetch } from '../../../core/prefetch.ts';
import { FLAG } from '../../flags.ts';
import { encodeSpec } from '../../spec.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';
import { numbers } from '../base/values.ts';
import { decodeJob, type JobRow, type SpecRow, specOf } from '../reads/job-row.ts';
import { giveTurnsTo } from './turns.ts';

const BESIDE = ['unique_key', 'unique_after', 'item'];

export async function edit(
  context: Context,
  jobId: number,
  wanted: JobEdit,
  signal: AbortSignal,
): Promise<Job | undefined> {
  const { database, lanes, fairQueues, hints } = context;
  for (;;) {
    const outcome = await database.transaction(signal, (session) => editOnce(context, session, jobId, wanted));
    if (outcome.type === 'new-lane') {
      // The lane is created outside of the transaction, which must not hold one connection and wait for another.
      await lanes.idsOf([outcome.key], signal);
      continue;
    }
    if (outcome.type === 'not-waiting') return undefined;
    const { job } = outcome;
    if (job.fairKey !== null) fairQueues.learn([job.queue]);
    hints.announce({
      jobs: [jobId],
      work: job.status === 'pending',
      dueAt: job.status === 'scheduled' ? job.dueAt : null,
    });
    return job;
  }
}

type EditResult = { type: 'edited'; job: Job } | { type: 'not-waiting' } | { type: 'new-lane'; key: string };

async function editOnce(
  context: Context,
  session: Session,
  jobId: number,
  { runAt, ...wanted }: JobEdit,
): Promise<EditResult> {
  const { sql, lanes } = context;
  const [locked] = await session.query(sql.lockWaiting, [jobId]);
  const [row] = await session.query<SpecRow>(sql.specs, [numbers([jobId])]);
  if (locked === undefined || row === undefined) return { type: 'not-waiting' };

  const spec: JobSpec = { ...specOf(row), ...wanted };
  const key = laneKey(laneOf(spec));
  const [lane] = lanes.knownIds([key]) ?? [];
  if (lane === undefined) return { type: 'new-lane', key };

  const stored = encodeSpec(spec);
  // Keys beside the spec in the same column stay.
  const beside = Object.fromEntries(BESIDE.flatMap((key) => (key in row.spec ? [[key, row.spec[key]]] : [])));
  const kept = { ...stored.spec, ...beside };
  await session.query(sql.editJob, [jobId, stored.queue, stored.priority, stored.tags, JSON.stringify(kept)]);
  const onceFlag = mayPrefetch(spec) ? 0 : FLAG.neverPrefetched;
  // A moved job gets a new turn.
  const isMoved = runAt !== undefined || wanted.queue !== undefined || wanted.priority !== undefined;
  await session.query(sql.editLive, [
    jobId,
    lane,
    -stored.priority,
    runAt ?? null,
    spec.startTimeoutMs,
    isMoved,
    onceFlag,
  ]);
  const queues = spec.fairKey === null ? [] : [spec.queue];
  await giveTurnsTo(context, session, { jobIds: isMoved ? [jobId] : [], fairQueues: queues });
  const [edited] = await session.query<JobRow>(sql.jobs, [numbers([jobId])]);
  return edited === undefined ? { type: 'not-waiting' } : { type: 'edited', job: decodeJob(edited) };
}
