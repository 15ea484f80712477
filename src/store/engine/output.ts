/** Output of attempts as it is read, their progress, and their checkpoints. */

import type { CheckpointKind, CheckpointPiece, PieceWritten } from '../../core/checkpoint.ts';
import type { LeaseRef, Report } from '../../core/lease.ts';
import type { LogPiece } from '../../core/output.ts';
import type { StoredCheckpoint } from '../output-store.ts';
import { columns } from '../sql/columns.ts';
import { anyFrom, type Fragment, locking, now, sql } from '../sql/sql.ts';
import { many, one, type Tx } from '../sql/tx.ts';
import { lookedUp, statusOf } from './standing.ts';

const chunk = columns<{ start: number; data: Uint8Array; receivedAt: number }>({
  start: 'bigint',
  data: 'bytes',
  receivedAt: 'instant',
});

async function readLog(
  tx: Tx,
  { jobId, attempt, from, maxBytes }: { jobId: number; attempt: number; from: number; maxBytes: number },
): Promise<LogPiece[]> {
  const isOfAttempt = sql`job_id = ${jobId} and attempt = ${attempt}`;
  // Without the data, which would be read beyond `maxBytes`.
  const starts = sql`select start from (
      select start, sum(length(data)) over (order by start) as bytes, row_number() over (order by start) as place
      from log where ${isOfAttempt} and start + length(data) > ${from}) piece
    where bytes <= ${maxBytes} or place = 1`;
  const chunks = await tx.all(
    chunk,
    sql`select ${chunk} from log where ${isOfAttempt} and start ${anyFrom(starts)} order by start`,
  );
  return chunks.map(({ start, data, receivedAt }) => ({ offset: start, data: new Uint8Array(data), receivedAt }));
}

type Reported = LeaseRef &
  Required<Pick<Report, 'workerId' | 'completed'>> & { fraction: number | null; note: string | null };

const reported = columns<Reported>({
  jobId: 'bigint',
  attempt: 'int',
  workerId: 'int',
  completed: 'bool',
  fraction: 'real',
  note: 'text',
});

const job = columns<{ jobId: number }>({ jobId: 'bigint' });

/** True if `i` names the attempt of live row `l`. */
const isHeld = sql`l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id
  and ${statusOf('l')} = 'running'`;
/** True if `i` names the attempt of row `r` that ended its job as done. */
const isDone = sql`r.job_id = i.job_id and r.attempt = i.attempt and r.worker_id = i.worker_id and r.status = 'done'`;

/** Check and write are one step: nothing is stored of an attempt that lost its lease. */
async function report(tx: Tx, reports: readonly Report[]): Promise<boolean[]> {
  if (reports.length === 0) return [];
  const rows = reports.map(({ progress: { fraction, text }, completed = false, ...lease }) => {
    return { ...lease, completed, fraction, note: text };
  });
  const written = await tx.all(
    job,
    sql`insert into progress (job_id, attempt, fraction, note)
      select i.job_id, i.attempt, i.fraction, i.note from ${reported.input(rows)} i
      where exists (select 1 from live l where ${isHeld} ${lookedUp})
        or i.completed and exists (select 1 from run r where ${isDone} ${lookedUp})
      order by i.job_id
      on conflict (job_id) do update set attempt = excluded.attempt, fraction = excluded.fraction, note = excluded.note
      returning job_id`,
  );
  const accepted = new Set(written.map(({ jobId }) => jobId));
  for (const jobId of accepted) tx.effects.changedJob(jobId);
  return reports.map(({ jobId }) => accepted.has(jobId));
}

interface Piece {
  jobId: number;
  upload: number;
  start: number;
  data: Uint8Array;
}

interface Checkpoint {
  jobId: number;
  attempt: number;
  checkpointUpload: number;
  checkpointKind: CheckpointKind;
  checkpointBytes: number;
  checkpointAttempt: number;
  checkpointAt: number;
}

const stored = columns<Piece>({ jobId: 'bigint', upload: 'bigint', start: 'bigint', data: 'bytes' });
const progress = columns<Checkpoint>({
  jobId: 'bigint',
  attempt: 'int',
  checkpointUpload: 'bigint',
  checkpointKind: 'text',
  checkpointBytes: 'int',
  checkpointAttempt: 'int',
  checkpointAt: 'instant',
});
const sum = columns<{ bytes: number }>({ bytes: 'bigint' });

async function writeCheckpoint(tx: Tx, piece: CheckpointPiece): Promise<PieceWritten> {
  const { jobId, attempt, workerId, upload, offset, data, complete } = piece;
  // Of two uploads for a job, the second waits until the first has decided which pieces stay.
  const held = await tx.get(
    job,
    sql`select l.job_id from live l where l.job_id = ${jobId} and l.attempt = ${attempt} and l.worker_id = ${workerId}
      and ${statusOf('l')} = 'running' ${locking('for no key update')}`,
  );
  if (held === undefined) return 'lease_lost';
  if (offset === 0) await dropPieces(tx, piece);
  await tx.run(
    sql`insert into checkpoint ${stored.values({ jobId, upload, start: offset, data })} on conflict do nothing`,
  );
  if (complete === null) return 'ok';

  const checkpointBytes = offset + data.length;
  const isOfUpload = sql`job_id = ${jobId} and upload = ${upload}`;
  const whole = await tx.get(sum, sql`select sum(length(data)) as bytes from checkpoint where ${isOfUpload}`);
  if (whole?.bytes !== checkpointBytes) return 'incomplete';
  const made = { checkpointUpload: upload, checkpointKind: complete.kind, checkpointBytes };
  const values = { ...made, checkpointAttempt: attempt, checkpointAt: now };
  await tx.run(sql`insert into progress ${progress.values({ jobId, attempt, ...values })}
    on conflict (job_id) do update set ${progress.set(values)}`);
  await dropPieces(tx, piece);
  tx.effects.changedJob(jobId);
  return 'ok';
}

/** Keeps those of this upload and of the complete checkpoint. */
async function dropPieces(tx: Tx, { jobId, upload }: CheckpointPiece): Promise<void> {
  await tx.run(sql`delete from checkpoint where job_id = ${jobId} and upload <> ${upload}
    and upload is distinct from ${completeUpload(jobId)}`);
}

function completeUpload(jobId: number): Fragment {
  return sql`(select checkpoint_upload from progress where job_id = ${jobId})`;
}

async function checkpoint(tx: Tx, jobId: number): Promise<StoredCheckpoint | null> {
  const isComplete = sql`job_id = ${jobId} and checkpoint_upload is not null`;
  const row = await tx.get(progress, sql`select ${progress} from progress where ${isComplete}`);
  if (row === undefined) return null;
  const { checkpointUpload: upload, checkpointKind: kind, checkpointBytes: bytes, checkpointAttempt: attempt } = row;
  return { upload, kind, bytes, attempt, writtenAt: row.checkpointAt };
}

async function readCheckpoint(
  tx: Tx,
  { jobId, upload, offset }: { jobId: number; upload: number; offset: number },
): Promise<Uint8Array | null> {
  const piece = await tx.get(
    stored,
    sql`select ${stored} from checkpoint where job_id = ${jobId} and upload = ${upload} and start = ${offset}
      and upload = ${completeUpload(jobId)}`,
  );
  return piece === undefined ? null : new Uint8Array(piece.data);
}

export const outputMethods = {
  readLog: one('read', readLog),
  report: one('write', report),
  writeCheckpoint: many('write', writeCheckpoint),
  checkpoint: one('urgent', checkpoint),
  readCheckpoint: one('urgent', readCheckpoint),
};
