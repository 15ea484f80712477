/** Real processes, found by what they were started as, in whatever PID namespace they are. */

import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 10;

/** A command that sleeps for years and that no other test sleeps. */
export function longSleep(): string {
  return `sleep ${randomInt(1_000_000_000, 2_000_000_000)}`;
}

/** Pids of the live processes with this command line, or one that begins with it. */
export function pidsOf(commandLine: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return false;
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').startsWith(commandLine);
      } catch {
        return false;
      }
    });
}

/** Resolves once so many of them are alive. */
export async function untilAlive(commandLine: string, count: number): Promise<void> {
  while (pidsOf(commandLine).length !== count) await sleep(LOOK_MS);
}
