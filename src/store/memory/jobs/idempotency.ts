import { WorkronError } from '../../../core/error.ts';
import { IDEMPOTENCY_MS, type InsertOptions } from '../../job-store.ts';
import type { IdempotentAnswer, Tables } from '../base/tables.ts';

/** Returns the answer of an earlier call with this key. Throws `idempotency_mismatch` if that was another request. */
export function answeredBefore(
  tables: Tables,
  { key, fingerprint }: NonNullable<InsertOptions['idempotency']>,
): IdempotentAnswer | undefined {
  const answer = tables.idempotency.get(key);
  if (answer === undefined || answer.createdAt + IDEMPOTENCY_MS <= tables.clock.now()) return undefined;
  if (answer.fingerprint !== fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  return answer;
}
