import { WorkronError } from '../../../core/error.ts';
import { IDEMPOTENCY_MS, type InsertOptions } from '../../job-store.ts';
import { StartAgain } from '../../sql/tx.ts';
import type { Context } from '../base/context.ts';
import type { Session } from '../base/database.ts';

/** Waits for an earlier call with this key and returns its answer. Throws `idempotency_mismatch` if that was another request. */
export async function beginIdempotent<Answer>(
  { sql }: Context,
  session: Session,
  { key, fingerprint }: NonNullable<InsertOptions['idempotency']>,
): Promise<Answer | undefined> {
  const begun = await session.query(sql.beginIdempotent, [key, fingerprint, IDEMPOTENCY_MS]);
  if (begun.length > 0) return undefined;
  const [first] = await session.query<{ fingerprint: string; answer: Answer }>(sql.idempotentAnswer, [key]);
  if (first === undefined) throw new StartAgain();
  if (first.fingerprint !== fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  return first.answer;
}
