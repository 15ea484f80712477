/** What the kernel counts of a child that has ended: of itself, and of all descendants that were waited for. */

import { readFileSync } from 'node:fs';
import type { Usage } from '../../core/outcome.ts';

/** Positions in `struct rusage`: two times of seconds and microseconds, then the peak memory in KiB. */
const USER_TIME = 0;
const SYSTEM_TIME = 16;
const MAX_RSS = 32;
/** The kernel's counters of memory are not exact. */
const TOLERANCE = 1.1;

let ownPeakBytes = 0;

export function usageIn(rusage: Buffer): Usage {
  const maxRssBytes = Number(rusage.readBigInt64LE(MAX_RSS)) * 1024;
  const cpuMs = Math.round(millisecondsAt(rusage, USER_TIME) + millisecondsAt(rusage, SYSTEM_TIME));
  return { cpuMs, maxRssBytes: isOfThisProcess(maxRssBytes) ? null : maxRssBytes };
}

function millisecondsAt(rusage: Buffer, position: number): number {
  return Number(rusage.readBigInt64LE(position)) * 1_000 + Number(rusage.readBigInt64LE(position + 8)) / 1_000;
}

/**
 * A child begins with the memory of this process, until it executes a program, and the kernel counts that: a peak that is not above
 * this process's own says nothing about the child.
 */
function isOfThisProcess(bytes: number): boolean {
  if (bytes > ownPeakBytes * TOLERANCE) ownPeakBytes = readOwnPeak();
  return bytes <= ownPeakBytes * TOLERANCE;
}

function readOwnPeak(): number {
  const kibibytes = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
  return Number(kibibytes ?? Number.POSITIVE_INFINITY) * 1024;
}
