/** Checkpoints of jobs. */

import type { Twins } from '../../statements.ts';

const isComplete = 'upload = (select checkpoint_upload from progress where job_id = ?1)';

export const checkpointSql = {
  // Node 22 and 24 bind an array without bytes that comes from another thread as null.
  insertPiece: `insert into checkpoint (job_id, upload, start, data) values (?, ?, ?, coalesce(?, x''))
    on conflict do nothing`,
  dropPieces: `delete from checkpoint where job_id = ?1 and upload <> ?2 and (${isComplete}) is not true`,
  uploadBytes: 'select coalesce(sum(length(data)), 0) as bytes from checkpoint where job_id = ?1 and upload = ?2',
  setCheckpoint: `insert into progress
      (job_id, attempt, checkpoint_upload, checkpoint_kind, checkpoint_bytes, checkpoint_attempt, checkpoint_at)
    values (?1, ?2, ?3, ?4, ?5, ?2, ?6)
    on conflict (job_id) do update set checkpoint_upload = excluded.checkpoint_upload,
      checkpoint_kind = excluded.checkpoint_kind, checkpoint_bytes = excluded.checkpoint_bytes,
      checkpoint_attempt = excluded.checkpoint_attempt, checkpoint_at = excluded.checkpoint_at`,
  checkpoint: `select checkpoint_upload as upload, checkpoint_kind as kind, checkpoint_bytes as bytes,
      checkpoint_attempt as attempt, checkpoint_at as writtenAt
    from progress where job_id = ? and checkpoint_upload is not null`,
  readPiece: `select data from checkpoint where job_id = ?1 and upload = ?2 and start = ?3 and ${isComplete}`,
} satisfies Twins<'checkpoint'>;
