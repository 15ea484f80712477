import type { Gang, GangContext } from '../core/gang.ts';

/** The gang of a running job. */
export interface RunGang {
  readonly id: string;
  /** The rank of this member: 0 … `size` − 1. */
  readonly rank: number;
  /** The number of members that start. */
  readonly size: number;
  /** The address of the worker of each of them, by rank. */
  readonly hosts: readonly string[];
}

export function runGangOf(gang: (Gang & GangContext) | null): RunGang | null {
  if (gang === null) return null;
  const { id, rank, hosts } = gang;
  return { id, rank, size: hosts.length, hosts };
}
