/** A step that is repeated for each item of a list: where the list comes from, and how the whole of it ends. */

import type { Reason, TerminalStatus } from '../job.ts';
import type { StepCounts } from './workflow-status.ts';

export const MAX_ITEMS = 100_000;

/** The list, or where it lies in a parent's result. */
export type ItemSource = readonly unknown[] | { path: readonly string[] };
export type ItemList = { items: readonly unknown[] } | { error: string };

/** The list itself, or what the path leads to in the parent's result; `error` says what was expected and what came. */
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

/** How far a group is. */
export interface GroupProgress {
  /** `null` until its list is known. */
  total: number | null;
  inserted: number;
  counts: StepCounts;
  cancelRequested: boolean;
}

/**
 * How the group ends now; `undefined`: it does not. All items have ended, or it was asked to stop and those it has
 * given out have. Once asked to stop, only `done` or `cancelled` can follow.
 */
export function groupEnd({ total, inserted, counts, cancelRequested }: GroupProgress): TerminalStatus | undefined {
  if (counts.open > 0) return undefined;
  const complete = total !== null && inserted === total;
  if (!complete && !cancelRequested) return undefined;
  if (complete && counts.failed === 0 && counts.cancelled === 0) return 'done';
  return counts.failed > 0 && !cancelRequested ? 'failed' : 'cancelled';
}

/** What a group tells of its failure: that of the first of its items, by index, that failed. */
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
