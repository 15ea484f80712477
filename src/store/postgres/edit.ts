import type { Job, JobSpec } from '../../core/job.ts';
import { laneKey, laneOf } from '../../core/lane.ts';
import { encodeSpec } from '../spec.ts';
import type { JobEdit } from '../store.ts';
import type { Context } from './context.ts';
import type { Session } from './database.ts';
import { decodeJob, type JobRow, type SpecRow, specOf } from './job-row.ts';
import { numbers } from './values.ts';

const BESIDE = ['unique_key', 'item'];

export async function edit(
  context: Context,
  jobId: number,
  wanted: JobEdit,
  signal: AbortSignal,
): Promise<Job | undefined> {
  const { database, lanes, hints } = context;
  for (;;) {
    const outcome = await database.transaction(signal, (session) => editOnce(context, session, jobId, wanted));
    if (outcome.type === 'new-lane') {
      // Made outside of the transaction, which must not hold one connection and wait for another.
      await lanes.idsOf([outcome.key], signal);
      continue;
    }
    if (outcome.type === 'not-waiting') return undefined;
    const { job } = outcome;
    hints.tell({
      jobs: [jobId],
      work: job.status === 'pending',
      dueAt: job.status === 'scheduled' ? job.dueAt : null,
    });
    return job;
  }
}

type Outcome = { type: 'edited'; job: Job } | { type: 'not-waiting' } | { type: 'new-lane'; key: string };

async function editOnce(
  { sql, lanes }: Context,
  session: Session,
  jobId: number,
  { runAt, ...wanted }: JobEdit,
): Promise<Outcome> {
  const [locked] = await session.query(sql.lockWaiting, [jobId]);
  const [row] = await session.query<SpecRow>(sql.specs, [numbers([jobId])]);
  if (locked === undefined || row === undefined) return { type: 'not-waiting' };

  const spec: JobSpec = { ...specOf(row), ...wanted };
  const key = laneKey(laneOf(spec));
  const lane = lanes.idOf(key);
  if (lane === undefined) return { type: 'new-lane', key };

  const stored = encodeSpec(spec);
  // What lies beside the spec in the same place is not the edit's business.
  const beside = Object.fromEntries(BESIDE.flatMap((key) => (key in row.spec ? [[key, row.spec[key]]] : [])));
  const kept = { ...stored.spec, ...beside };
  await session.query(sql.editJob, [jobId, stored.queue, stored.priority, stored.tags, JSON.stringify(kept)]);
  await session.query(sql.editLive, [jobId, lane, -stored.priority, runAt ?? null, spec.startTimeoutMs]);
  const [edited] = await session.query<JobRow>(sql.jobs, [numbers([jobId])]);
  return edited === undefined ? { type: 'not-waiting' } : { type: 'edited', job: decodeJob(edited) };
}
