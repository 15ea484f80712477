/** Intake: jobs that applications inserted or completed in their own transactions, judged after the commit. */

import type { Condition } from '../../../core/dag/conditions.ts';
import { isWorkronError } from '../../../core/error.ts';
import type { Dependency } from '../../../core/job.ts';
import { FLAG } from '../../flags.ts';
import { columns } from '../../sql/columns.ts';
import { after, anyFrom, locking, now, raw, spelled, sql } from '../../sql/sql.ts';
import { type Done, inTurn, one, type Stages, staged, type Tx } from '../../sql/tx.ts';
import { listed, statusOf } from '../standing.ts';
import type { ParentEnds } from './edges.ts';
import { lockAffected } from './lock-affected.ts';
import { lockParents } from './parents.ts';
import { relink } from './relink.ts';
import { placesToWait } from './revive.ts';

interface Intake {
  jobId: number;
  kind: 'submitted' | 'ended';
  request: { depends_on?: [number, Condition][]; flags?: number };
}

const intakeRow = columns<Intake>({ jobId: 'bigint', kind: 'text', request: 'json' });
const nowRow = columns<{ now: number }>({ now: 'instant' });
const flagsRow = columns<{ flags: number }>({ flags: 'int' });
const standingRow = columns<{ status: string; due: number }>({ status: 'text', due: 'instant' });

/** On SQLite, an application's transaction keeps writers out until it ends. So this only reads. */
async function findIntake(tx: Tx, limit: number): Promise<Intake[] | Done<number>> {
  const rows = await tx.all(intakeRow, sql`select ${intakeRow} from intake order by job_id limit ${limit}`);
  return rows.length === 0 ? { answer: 0 } : rows;
}

/** Adopts each row in its own transaction, so that no row waits for or fails with another. */
async function adopt(stages: Stages, _limit: number, rows: readonly Intake[]): Promise<number> {
  for (const row of rows) await stages.write((tx) => adoptOne(tx, row));
  return rows.length;
}

/** If several processes adopt at once, only the one that deletes the row continues. */
async function adoptOne(tx: Tx, row: Intake): Promise<void> {
  const free = sql`select job_id from intake where job_id = ${row.jobId} ${locking('for update skip locked')}`;
  const mine = await tx.get(nowRow, sql`delete from intake where job_id ${anyFrom(free)} returning ${now} as now`);
  if (mine === undefined) return;
  tx.graphUpdate.at(mine.now);
  await (row.kind === 'submitted' ? judge : propagateEnd)(tx, row);
}

/** A new job without parents is claimable when it is due. On PostgreSQL, the promoter gives it its turn. */
const isLater = spelled({
  sqlite: sql`live.due > ${now}`,
  postgres: sql`(live.due > ${now} or exists (select 1 from fair_queue f join job j on j.queue = f.name where j.id = live.job_id))`,
});
const ready = sql`case when live.due > ${now} then live.due else ${now} end`;
const unjudged = raw(`${FLAG.unjudged}`);

/** Judges a submitted job, unless it was cancelled since. */
async function judge(tx: Tx, { jobId, request }: Intake): Promise<void> {
  const dependsOn = (request.depends_on ?? []).map(([parentId, condition]) => ({ jobId: parentId, condition }));
  await lockAffected(tx, { ends: [jobId], others: dependsOn.map((parent) => parent.jobId) });
  if (!tx.locks.holds(jobId)) return;
  const place = (await placesToWait(tx, [jobId])).get(jobId);
  if (place === undefined) return;
  const live = await tx.get(
    flagsRow,
    sql`update live set lane = ${place.lane}, flags = flags & ~${unjudged},
        ${listed} = case when ${isLater} then 'scheduled' else 'pending' end,
        expires_at = ${after(ready, sql`${place.startTimeoutMs}`)}
      where job_id = ${jobId} and ${listed} = 'blocked' and flags & ${unjudged} <> 0 returning flags`,
  );
  if (live === undefined) return;
  tx.effects.changedJob(jobId);
  await relink(tx, { jobId, flags: live.flags, dependsOn, ends: await endsOf(tx, dependsOn) });
  const standing = await tx.get(
    standingRow,
    sql`select ${statusOf('l')} as status, l.due from live l where l.job_id = ${jobId}`,
  );
  if (standing !== undefined) tx.graphUpdate.jobIs(jobId, standing);
}

/** A parent that retention has deleted since the submission counts as skipped: how it ended is not known. */
async function endsOf(tx: Tx, dependsOn: readonly Dependency[]): Promise<ParentEnds> {
  try {
    return await lockParents(tx, [{ dependsOn }]);
  } catch (error) {
    if (!isWorkronError(error, 'dependency_unknown')) throw error;
    return new Map(dependsOn.map(({ jobId }) => [jobId, 'skipped']));
  }
}

/** Propagates the end of a completed job, unless a person has retried it since. */
async function propagateEnd(tx: Tx, { jobId, request }: Intake): Promise<void> {
  if ((await tx.locks.lives([jobId])).length > 0) return;
  tx.effects.changedJob(jobId);
  tx.effects.madeRoom();
  tx.graphUpdate.ended([{ jobId, flags: (request.flags ?? 0) & ~FLAG.holdsKey, status: 'done' }]);
}

export const intakeMethods = { adopt: inTurn(one('read', findIntake), staged('write', adopt)) };
