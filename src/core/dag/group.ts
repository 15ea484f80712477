/** A `for_each` step: where its list of items comes from, how many of them run at once, and how the group ends. */

import type { Reason, TerminalStatus } from '../job.ts';
import type { StepCounts } from './workflow-status.ts';

export const MAX_ITEMS = 100_000;

/** The list, or its path in a parent's result. */
export type ItemSource = readonly unknown[] | { path: readonly string[] };
export type ItemList = { items: readonly unknown[] } | { error: string };

/** Returns the list itself, or the one at the path in the parent's result. `error` says what was expected and what was got. */
export function resolveItems(source: ItemSource, parentResult: unknown): ItemList {
  const literal = Array.isArray(source);
  const { path } = literal ? { path: [] } : (source as { path: readonly string[] });
  let found: unknown = literal ? source : parentResult;
  for (const key of path) found = isRecord(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  const place = literal ? 'for_each' : ['result', ...path].join('.');
  if (!Array.isArray(found)) return { error: `for_each: expected a list at ${place}, got ${nameOf(found)}` };
  if (found.length > MAX_ITEMS) {
    return { error: `for_each: expected at most ${MAX_ITEMS} items at ${place}, got ${found.length}` };
  }
  return { items: found };
}

/** The progress of a group. */
export interface GroupProgress {
  /** `null` until its list is known. */
  total: number | null;
  inserted: number;
  counts: StepCounts;
  cancelRequested: boolean;
}

/** Returns how many items to insert now, no more than `limit`, and whether others could follow at once. */
export function itemsToInsert(
  { total, inserted, open, maxParallel }: { total: number; inserted: number; open: number; maxParallel: number | null },
  limit: number,
): { count: number; more: boolean } {
  const room = Math.min(total - inserted, (maxParallel ?? Number.POSITIVE_INFINITY) - open);
  const count = Math.max(0, Math.min(room, limit));
  return { count, more: count < room };
}

/** True if the list of items is known and some are not inserted yet. */
export function hasItemsLeft({ total, inserted }: Pick<GroupProgress, 'total' | 'inserted'>): boolean {
  return inserted < (total ?? 0);
}

/**
 * Returns how the group ends now, `undefined` if it goes on. It ends when all items have ended or, once it was asked to
 * stop, when the inserted ones have; then only `done` or `cancelled` can follow.
 */
export function groupEnd({ total, inserted, counts, cancelRequested }: GroupProgress): TerminalStatus | undefined {
  if (counts.open > 0) return undefined;
  const complete = total !== null && inserted === total;
  if (!complete && !cancelRequested) return undefined;
  if (complete && counts.failed === 0 && counts.cancelled === 0) return 'done';
  return counts.failed > 0 && !cancelRequested ? 'failed' : 'cancelled';
}

/** Returns the reason and the error of a failed group: those of the first item, by index, that failed. */
export function groupFailure(item: { index: number; reason: Reason | null; error: string | null }): {
  reason: Reason | null;
  error: string;
} {
  return { reason: item.reason, error: `item ${item.index}: ${item.error ?? item.reason ?? 'failed'}` };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function nameOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
