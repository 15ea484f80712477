/** Ends what previous workers on this machine left: launchers whose worker is dead, and commands without a launcher. */

import { readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../ops/log.ts';
import {
  canSignal,
  hasProcessTable,
  identityOf,
  isDead,
  isOwn,
  LAUNCHER_MARK,
  listPids,
  readMarks,
  readStat,
  TREE_MARK,
} from './process-table.ts';
import { ownerOfFolder } from './work-folder.ts';

/** How long a launcher whose worker died may take to stop its commands. */
const LAUNCHER_GRACE_MS = 2_000;
const SCAN_MS = 20;
/** A process that has not ended this long after SIGKILL will not end. */
const GIVE_UP_MS = 10_000;

/**
 * Returns the number of processes ended, once none is left. Processes that belong to a live worker or to another PID
 * namespace (a container) are not touched.
 */
export async function sweepOrphans(log: Log): Promise<number> {
  if (!hasProcessTable) return 0;
  const launchers = await endAll(orphanedLaunchers, LAUNCHER_GRACE_MS);
  const ended = launchers + (await endAll(orphanedTrees, 0));
  removeFolders();
  if (ended > 0) log.warn({ processes: ended }, 'ended commands that a previous worker left behind');
  return ended;
}

async function endAll(find: () => number[], graceMs: number): Promise<number> {
  const ended = new Set<number>();
  const seen = new Set<string>();
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += SCAN_MS) {
    const found = find();
    for (const pid of found) seen.add(identityOf(pid));
    // A dying process loses its environment before it ends, so it is not found, and its children are not orphans yet.
    if (found.length === 0 && [...seen].every(isDead)) break;
    if (waitedMs >= graceMs) {
      for (const pid of found) if (canSignal(pid, 'SIGKILL')) ended.add(pid);
    }
    await sleep(SCAN_MS);
  }
  return ended.size;
}

/** Includes the processes between a launcher and its namespace: the first process of a namespace ends last. */
function orphanedLaunchers(): number[] {
  return listPids().filter((pid) => readMarks(pid, LAUNCHER_MARK).some(isDead) && isRunning(pid));
}

/**
 * A session with a marked process was begun within its tree, so all of the session belongs to the tree. Processes of other
 * users are left alone.
 */
function orphanedTrees(): number[] {
  const outer = process.env[TREE_MARK]?.split(' ') ?? [];
  const pids = listPids();
  const marked = pids.filter((pid) => readMarks(pid, TREE_MARK).some((mark) => isDead(mark) && !outer.includes(mark)));
  if (marked.length === 0) return [];
  const sessions = new Set(marked.map((pid) => readStat(pid)?.session));
  return pids.filter((pid) => sessions.has(readStat(pid)?.session ?? -1) && isOwn(pid) && isRunning(pid));
}

function isRunning(pid: number): boolean {
  return readStat(pid)?.zombie === false;
}

function removeFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = ownerOfFolder(name);
    if (owner === undefined || !isDead(owner)) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}
