/**
 * A control group (version 2) for a launcher and all that it starts, where this process may make one. What a command starts stays
 * in it, whatever it does to get away, unless it may write to the groups itself.
 */

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { canSignal, identityOf, isDead } from './process-table.ts';

const NAME = /^workron-(\d+\.\d+\.\d+)-\d+$/;
const EMPTY_MS = 10;
/** A process that has not ended this long after SIGKILL will not end. */
const GIVE_UP_MS = 10_000;

let made = 0;

/** The control group of this process; `undefined` if the machine has none of version 2. */
function ownGroup(): string | undefined {
  try {
    const path = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8');
    // Where something else than the root of the hierarchy is mounted, the path would not lead to this process.
    const mount = /^\d+ \d+ \S+ \/ (\S+) .* - cgroup2 /m.exec(mounts)?.[1];
    return path === undefined || mount === undefined ? undefined : join(mount, path);
  } catch {
    return undefined;
  }
}

/** Makes an empty one within that of this process. `undefined`: this process may not. */
export function makeControlGroup(): string | undefined {
  const own = ownGroup();
  if (own === undefined) return undefined;
  made += 1;
  const path = join(own, `workron-${identityOf(process.pid)}-${made}`);
  try {
    mkdirSync(path);
    return path;
  } catch {
    return undefined;
  }
}

/** Moves a process that has started nothing yet. False if this process may not. */
export function enterControlGroup(path: string, pid: number): boolean {
  try {
    writeFileSync(join(path, 'cgroup.procs'), String(pid));
    return true;
  } catch {
    return false;
  }
}

/** True if this process may make groups and move its children to them. */
export async function canGroup(): Promise<boolean> {
  const path = makeControlGroup();
  if (path === undefined) return false;
  const child = spawn('/bin/cat', { env: {}, stdio: ['pipe', 'ignore', 'ignore'] });
  child.on('error', () => undefined);
  const can = child.pid !== undefined && enterControlGroup(path, child.pid);
  child.kill('SIGKILL');
  await endControlGroup(path);
  return can;
}

/** The processes in it, and in groups that these have made within. */
export function membersOf(path: string): number[] {
  try {
    const own = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
    return [...own, ...within(path).flatMap(membersOf)];
  } catch {
    return [];
  }
}

function within(path: string): string[] {
  const entries = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.map(({ name }) => join(path, name));
}

function remove(path: string): void {
  for (const inner of within(path)) remove(inner);
  rmdirSync(path);
}

/** Kills what is in it and removes it. Returns the number of processes that were killed. */
export async function endControlGroup(path: string): Promise<number> {
  const killed = new Set<number>();
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += EMPTY_MS) {
    for (const pid of membersOf(path)) if (canSignal(pid, 'SIGKILL')) killed.add(pid);
    try {
      remove(path);
      break;
    } catch (error) {
      // Something in it still ends.
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') break;
    }
    await sleep(EMPTY_MS);
  }
  return killed.size;
}

/** The groups that workers made which are dead now. */
export function orphanedGroups(): string[] {
  const own = ownGroup();
  if (own === undefined) return [];
  return readdirSync(own).flatMap((name) => {
    // What is in it will be killed, so a group that others made must never be taken for one of these.
    const maker = NAME.exec(name)?.[1];
    return maker !== undefined && isDead(maker) ? [join(own, name)] : [];
  });
}
