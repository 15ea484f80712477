/** What an item of a list is told of the parents of its step. */

import type { ParentEnd } from '../job.ts';

/** A scalar of at most so many bytes reaches commands as a variable; so do no more than these together. */
export const LONGEST_VALUE_BYTES = 4 * 1024;
export const MOST_VALUE_BYTES = 64 * 1024;

type Scalar = string | number | boolean;

const utf8 = new TextEncoder();

/**
 * Of their results only the scalars that fit into variables: the rest, above all the list itself, would go out again with
 * each of up to 100,000 items.
 */
export function forItems(parents: readonly ParentEnd[]): ParentEnd[] {
  let left = MOST_VALUE_BYTES;
  const fits = (value: unknown): value is Scalar => {
    if (!isScalar(value)) return false;
    const bytes = utf8.encode(String(value)).length;
    if (bytes > LONGEST_VALUE_BYTES || bytes > left) return false;
    left -= bytes;
    return true;
  };
  return parents.map((parent) => {
    const { result } = parent;
    if (typeof result !== 'object' || result === null) return { ...parent, result: fits(result) ? result : null };
    if (Array.isArray(result)) return { ...parent, result: null };
    return { ...parent, result: Object.fromEntries(Object.entries(result).filter(([, value]) => fits(value))) };
  });
}

export function isScalar(value: unknown): value is Scalar {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
