/** Edits of jobs that wait. */

import type { Job, JobSpec, Status } from '../../core/job.ts';
import type { JobEdit } from '../../core/job-edit.ts';
import { laneKey, laneOf } from '../../core/lane.ts';
import { mayPrefetch } from '../../core/prefetch.ts';
import { FLAG } from '../flags.ts';
import { decodeSpec, encodeSpec, type SpecColumns } from '../spec.ts';
import { columns } from '../sql/columns.ts';
import { at, locking, now, raw, spelled, sql } from '../sql/sql.ts';
import { many, type Tx } from '../sql/tx.ts';
import { readJobs } from './reads.ts';
import { listed, statusOf } from './standing.ts';

interface Waiting {
  status: Status;
  due: number;
  expiresAt: number | null;
}

const waitingRow = columns<Waiting & { flags: number }>({
  status: 'text',
  due: 'instant',
  expiresAt: 'instant',
  flags: 'int',
});
const specRow = columns<SpecColumns & { createdAt: number; now: number }>({
  queue: 'text',
  kind: 'text',
  name: 'text',
  priority: 'int',
  tags: 'json',
  spec: 'json',
  createdAt: 'instant',
  now: 'instant',
});

/** Keys beside the spec in the same column, which stay. */
const BESIDE = ['unique_key', 'unique_after', 'item'];
const DERIVED = raw(String(FLAG.neverPrefetched | FLAG.hasNoStartTimeout));

/** Rewrites the job and its live row together, whatever is edited: a claim that began before must miss it, not run the old job. */
async function edit(tx: Tx, jobId: number, { runAt, ...wanted }: JobEdit): Promise<Job | undefined> {
  const waiting = await tx.get(
    waitingRow,
    sql`select ${statusOf('l')} as status, l.due, l.expires_at, l.flags from live l
      where l.job_id = ${jobId} and ${statusOf('l')} <> 'running' ${locking('for update')}`,
  );
  const row = await tx.get(
    specRow,
    sql`select queue, kind, name, priority, tags, spec, created_at, ${now} as now from job where id = ${jobId}`,
  );
  if (waiting === undefined || row === undefined) return undefined;
  // It has started, and its steps say when it goes on.
  if (runAt !== undefined && waiting.flags & FLAG.hasSteps) return undefined;

  const spec: JobSpec = { ...decodeSpec(row), ...wanted };
  const [lane] = tx.laneIds([laneKey(laneOf(spec))]);
  const { queue, priority, tags, spec: stored } = encodeSpec(spec);
  for (const key of BESIDE) if (key in row.spec) stored[key] = row.spec[key];
  const list = spelled({ sqlite: sql`${JSON.stringify(tags)}`, postgres: sql`${tags}` });
  await tx.run(sql`update job set queue = ${queue}, priority = ${priority}, tags = ${list}, spec = ${JSON.stringify(stored)}
    where id = ${jobId}`);

  const { status, due, expiresAt } = runAt === undefined ? waiting : moved(waiting, row, { runAt, spec });
  // A moved job gets a new turn.
  const isMoved = runAt !== undefined || wanted.queue !== undefined || wanted.priority !== undefined;
  const turn = isMoved ? sql`turn = 0, fair_key = null,` : sql``;
  const once = mayPrefetch(spec) ? 0 : FLAG.neverPrefetched;
  await tx.run(sql`update live set ${turn} ${listed} = ${status}, lane = ${lane as number}, rank = ${-priority}, due = ${at(due)},
      expires_at = ${at(expiresAt)}, flags = flags & ~${DERIVED} | ${raw(String(once))}
    where job_id = ${jobId}`);
  if (spec.fairKey !== null) tx.graphUpdate.fairQueues.add(spec.queue);
  if (isMoved) tx.graphUpdate.claimable(jobId);
  if (status === 'scheduled') tx.effects.willBeDue(due);
  else if (status === 'pending') tx.effects.madeWork();
  tx.effects.changedJob(jobId);
  return (await readJobs(tx, [jobId]))[0];
}

function moved(
  waiting: Waiting,
  { createdAt, now: instant }: { createdAt: number; now: number },
  { runAt, spec: { startTimeoutMs } }: { runAt: number; spec: JobSpec },
): Waiting {
  const due = Math.max(Math.round(runAt), createdAt);
  return {
    status: waiting.status === 'blocked' ? 'blocked' : due > instant ? 'scheduled' : 'pending',
    due,
    expiresAt: waiting.expiresAt === null || startTimeoutMs === null ? null : due + Math.round(startTimeoutMs),
  };
}

export const editMethods = { edit: many('write', edit) };
