/** Jobs whose ends and reopenings still have to reach their children: `tables.cascade`. */

import type { Entry } from '../base/entry.ts';
import type { Tables } from '../base/tables.ts';
import { propagateFrom } from './propagate.ts';

/** Goes one level down from up to `limit` of these jobs. Returns their number. */
export function cascade(tables: Tables, limit: number): number {
  const parents = new Set(tables.cascade.values().take(limit));
  propagateFrom(tables, parents);
  return parents.size;
}

/** Returns the jobs of a call that are among them, each once. */
export function named(tables: Tables, refs: readonly { jobId: number }[]): Set<Entry> {
  const found = new Set<Entry>();
  for (const { jobId } of refs) {
    const entry = tables.jobs.get(jobId);
    if (entry !== undefined && tables.cascade.has(entry)) found.add(entry);
  }
  return found;
}
