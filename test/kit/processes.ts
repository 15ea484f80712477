/** Finds real processes by their command line, in any PID namespace. */

import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 10;

/** A command that sleeps for years, with a duration that no other test uses. */
export function longSleep(): string {
  return `sleep ${randomInt(1_000_000_000, 2_000_000_000)}`;
}

/** The pids of live processes whose command line equals or starts with this one. */
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

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Descends from a process to the launcher, which may be within others that give it a namespace. */
export function launcherWithin(pid: number): number {
  const title = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
  if (title.startsWith('workron launcher')) return pid;
  const [child, ...others] = childrenOf(pid);
  if (child === undefined || others.length > 0) throw new Error(`no launcher in process ${pid}, ${title}`);
  return launcherWithin(child);
}

/** Resolves once exactly `count` of them are alive. */
export async function untilAlive(commandLine: string, count: number): Promise<void> {
  while (pidsOf(commandLine).length !== count) await sleep(LOOK_MS);
}
