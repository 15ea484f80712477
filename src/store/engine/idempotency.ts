/** Stored answers of calls with an idempotency key. */

import { WorkronError } from '../../core/error.ts';
import { IDEMPOTENCY_MS, type InsertOptions } from '../job-store.ts';
import { columns } from '../sql/columns.ts';
import { after, now, sql } from '../sql/sql.ts';
import { StartAgain, type Tx } from '../sql/tx.ts';

type Idempotency = NonNullable<InsertOptions['idempotency']>;

interface Stored extends Idempotency {
  answer: unknown;
  createdAt: number;
}

const stored = columns<Stored>({ key: 'text', fingerprint: 'text', answer: 'json', createdAt: 'instant' });

/** Waits for an earlier call with this key, by the row that it has written first, and returns its answer. Throws `idempotency_mismatch` if that was another request. */
export async function beginIdempotent<Answer>(tx: Tx, asked: Idempotency): Promise<Answer | undefined> {
  const begun = await tx.run(sql`insert into idempotency ${stored.values({ ...asked, answer: [], createdAt: now })}
    on conflict (key) do update
    set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = excluded.created_at
    where ${after(sql`idempotency.created_at`, IDEMPOTENCY_MS)} <= excluded.created_at`);
  if (begun > 0) return undefined;
  const first = await tx.get(stored, sql`select ${stored} from idempotency where key = ${asked.key}`);
  if (first === undefined) throw new StartAgain();
  if (first.fingerprint !== asked.fingerprint) {
    throw new WorkronError('idempotency_mismatch', 'This Idempotency-Key was used with another request');
  }
  return first.answer as Answer;
}

export async function endIdempotent(tx: Tx, { key }: Idempotency, answer: unknown): Promise<void> {
  await tx.run(sql`update idempotency set ${stored.set({ answer })} where key = ${key}`);
}

/** Gives up a key that was begun: the call has nothing to answer. */
export async function dropIdempotent(tx: Tx, { key }: Idempotency): Promise<void> {
  await tx.run(sql`delete from idempotency where key = ${key}`);
}
