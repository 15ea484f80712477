/** Stored answers of calls with an idempotency key. */

import { WorkronError } from '../../../core/error.ts';
import { IDEMPOTENCY_MS, type InsertOptions } from '../../job-store.ts';
import type { Context } from '../base/context.ts';
import { sql } from '../base/sql.ts';

type Idempotency = NonNullable<InsertOptions['idempotency']>;

/** The jobs of a call, or its workflow. */
interface Answered {
  items: (readonly [jobId: number, deduplicated: boolean])[];
  workflowId: number | null;
}

export function answeredBefore({ database, now }: Context, { key, fingerprint }: Idempotency): Answered | undefined {
  const stored = database.get<{ fingerprint: string; answer: string }>(sql.idempotentAnswer, key, now - IDEMPOTENCY_MS);
  if (stored === undefined) return undefined;
  if (stored.fingerprint !== fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  const answer = JSON.parse(stored.answer) as Answered['items'] | { workflow: number };
  return Array.isArray(answer) ? { items: answer, workflowId: null } : { items: [], workflowId: answer.workflow };
}

export function remember({ database, now }: Context, { key, fingerprint }: Idempotency, answered: Answered): void {
  const answer = answered.workflowId === null ? answered.items : { workflow: answered.workflowId };
  database.run(sql.endIdempotent, key, fingerprint, JSON.stringify(answer), now);
}
