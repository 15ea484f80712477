import { IDEMPOTENCY_MS, type Retention } from '../store.ts';
import type { Entry } from './entry.ts';
import type { Heap } from './heap.ts';
import type { Tables } from './tables.ts';
import { dropKey, isOver } from './unique.ts';

export function prune(tables: Tables, { doneMs, otherMs, statsMs }: Retention, limit: number): number {
  const now = tables.clock.now();
  forget(tables.uniqueKeys, (held) => isOver(held, now));
  forget(tables.idempotency, (answer) => answer.createdAt + IDEMPOTENCY_MS <= now);
  forget(tables.stats, (row) => row.minute < now - statsMs);
  const done = pruneEnded(tables, tables.done, now - doneMs, limit);
  return done + pruneEnded(tables, tables.undone, now - otherMs, limit - done);
}

function pruneEnded(tables: Tables, ended: Heap<Entry>, before: number, limit: number): number {
  let count = 0;
  for (let oldest = ended.peek(); oldest !== undefined; oldest = ended.peek()) {
    if (count >= limit || (oldest.doneAt ?? 0) >= before) break;
    ended.delete(oldest);
    dropKey(tables, oldest, ['time']);
    tables.jobs.delete(oldest.id);
    count += 1;
  }
  return count;
}

function forget<K, V>(rows: Map<K, V>, isOld: (row: V) => boolean): void {
  for (const [key, row] of rows) if (isOld(row)) rows.delete(key);
}
