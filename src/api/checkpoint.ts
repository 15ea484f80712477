/** Checkpoints of jobs: bytes in the body, described on the job. */

import { z } from 'zod';
import type { CheckpointKind } from '../core/checkpoint.ts';
import { storeId, wireInstant } from './fields.ts';
import { attemptInQuery } from './output.ts';
import { named } from './schemas.ts';

export const Checkpoint = named(
  'Checkpoint',
  z.object({
    bytes: z.number(),
    attempt: z.number().meta({ description: 'The attempt that wrote it.' }),
    written_at: wireInstant,
  }),
);

export const CheckpointUploadQuery = z.object({ worker_id: storeId, attempt: attemptInQuery });

export const CheckpointWritten = named('CheckpointWritten', z.object({ bytes: z.number() }));

/** The media type of a checkpoint: JSON for a value of a handler, else bytes. */
export const CHECKPOINT_TYPES: Readonly<Record<CheckpointKind, string>> = {
  bytes: 'application/octet-stream',
  json: 'application/json',
};

export function checkpointKindOf(contentType: string | null | undefined): CheckpointKind {
  return contentType?.split(';', 1)[0]?.trim().toLowerCase() === CHECKPOINT_TYPES.json ? 'json' : 'bytes';
}
