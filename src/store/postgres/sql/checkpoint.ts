/** Checkpoints of jobs. */

import type { Twins } from '../../statements.ts';
import { epochMs } from './instants.ts';

export function checkpointSql(s: string) {
  const complete = `(select checkpoint_upload from ${s}.progress where job_id = $1)`;
  return {
    insertPiece: `insert into ${s}.checkpoint (job_id, upload, start, data) values ($1, $2, $3, $4) on conflict do nothing`,
    dropPieces: `delete from ${s}.checkpoint where job_id = $1 and upload <> $2 and upload is distinct from ${complete}`,
    uploadBytes: `select coalesce(sum(octet_length(data)), 0)::integer as bytes from ${s}.checkpoint
      where job_id = $1 and upload = $2`,
    setCheckpoint: `insert into ${s}.progress
        (job_id, attempt, checkpoint_upload, checkpoint_kind, checkpoint_bytes, checkpoint_attempt, checkpoint_at)
      values ($1, $2::integer, $3, $4, $5, $2::integer, ${s}.now())
      on conflict (job_id) do update set checkpoint_upload = excluded.checkpoint_upload,
        checkpoint_kind = excluded.checkpoint_kind, checkpoint_bytes = excluded.checkpoint_bytes,
        checkpoint_attempt = excluded.checkpoint_attempt, checkpoint_at = excluded.checkpoint_at`,
    checkpoint: `select checkpoint_upload as upload, checkpoint_kind as kind, checkpoint_bytes as bytes,
        checkpoint_attempt as attempt, ${epochMs('checkpoint_at')} as "writtenAt"
      from ${s}.progress where job_id = $1 and checkpoint_upload is not null`,
    readPiece: `select data from ${s}.checkpoint where job_id = $1 and upload = $2 and start = $3 and upload = ${complete}`,

    // PostgreSQL only: there is more than one writer.
    /** Of two uploads for a job, the second waits until the first has decided which pieces stay. */
    lockHeld: `select l.job_id from ${s}.live l
      where l.job_id = $1 and l.attempt = $2 and l.worker_id = $3 and l.claimed for no key update`,
  } satisfies Twins<'checkpoint'>;
}
