import type { NewJob } from '../../../core/job.ts';
import type { Entry } from '../base/entry.ts';
import type { Tables, UniqueKey } from '../base/tables.ts';

/** The current holder of a key, if any. */
export function holderOf(tables: Tables, key: string, now: number): UniqueKey | undefined {
  const held = tables.uniqueKeys.get(key);
  return held === undefined || isOver(held, now) ? undefined : held;
}

export function isOver(held: UniqueKey, now: number): boolean {
  return held.expiresAt !== null && held.expiresAt <= now;
}

export function takeKey(tables: Tables, entry: Entry, unique: NewJob['unique'], now: number): void {
  if (unique === null) return;
  const timed = typeof unique.while === 'number';
  tables.uniqueKeys.set(unique.key, {
    jobId: entry.id,
    hold: timed ? 'time' : (unique.while as 'pending' | 'active'),
    expiresAt: timed ? now + (unique.while as number) : null,
  });
}

/** Releases the entry's key if it holds one in one of these ways. */
export function dropKey(tables: Tables, entry: Entry, holds: readonly UniqueKey['hold'][]): void {
  if (entry.uniqueKey === null) return;
  const held = tables.uniqueKeys.get(entry.uniqueKey);
  if (held?.jobId === entry.id && holds.includes(held.hold)) tables.uniqueKeys.delete(entry.uniqueKey);
}
