/** The parents of a job, as its handler sees them. */

import type { ParentEnd, TerminalStatus } from '../core/job.ts';

export interface RunParent {
  readonly jobId: string;
  /** The step key if there is one, else the name, else the id. */
  readonly key: string;
  readonly status: TerminalStatus;
  /** `null` if it has none. */
  readonly result: unknown;
}

export function runParentsOf(parents: readonly ParentEnd[]): readonly RunParent[] {
  return parents.map(({ jobId, key, status, result }) => ({ jobId: String(jobId), key, status, result }));
}
