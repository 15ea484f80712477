/** Ends what previous workers on this machine left: launchers whose worker is dead, and commands without a launcher. */

import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../ops/log.ts';
import { endControlGroup, membersOf, orphanedGroups } from './cgroup.ts';
import type { Owner } from './command-user.ts';
import {
  believedUsers,
  canSignal,
  hasProcessTable,
  identityOf,
  isDead,
  LAUNCHER_MARK,
  listPids,
  REPORTING_TITLE,
  readMarks,
  readStat,
  TREE_MARK,
  titleOf,
  userOf,
} from './process-table.ts';
import { ownerOfFolder, removeWorkFolder } from './work-folder.ts';

/** How long a launcher whose worker died may take to stop its commands. */
const LAUNCHER_GRACE_MS = 2_000;
const SCAN_MS = 20;
/** A process that has not ended this long after SIGKILL will not end. */
const GIVE_UP_MS = 10_000;

interface Orphans {
  toEnd: readonly number[];
  /** They may have been in `toEnd` before. */
  spared: readonly number[];
}

/**
 * Returns the number of processes ended, once none is left. Processes that belong to a live worker or to another PID
 * namespace (a container) are not touched, and neither is a launcher that only reports that no process of its commands is
 * left. `commandUser`: whom commands run as, if not as the user of this process.
 */
export async function sweepOrphans(log: Log, commandUser: Owner | null): Promise<number> {
  if (!hasProcessTable) return 0;
  const launchers = await endAll(orphanedLaunchers, LAUNCHER_GRACE_MS);
  const believed = believedUsers(commandUser);
  let ended = launchers + (await endAll(() => ({ toEnd: orphanedTrees(believed), spared: [] }), 0));
  const { spared } = orphanedLaunchers();
  for (const group of orphanedGroups()) {
    if (!membersOf(group).some((pid) => spared.includes(pid))) ended += await endControlGroup(group);
  }
  removeFolders();
  if (ended > 0) log.warn({ processes: ended }, 'ended commands that a previous worker left behind');
  return ended;
}

async function endAll(find: () => Orphans, graceMs: number): Promise<number> {
  const ended = new Set<number>();
  const seen = new Set<string>();
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += SCAN_MS) {
    const { toEnd, spared } = find();
    for (const pid of toEnd) seen.add(identityOf(pid));
    for (const pid of spared) seen.delete(identityOf(pid));
    // A dying process loses its environment before it ends, so it is not found, and its children are not orphans yet.
    if (toEnd.length === 0 && [...seen].every(isDead)) break;
    if (waitedMs >= graceMs) {
      for (const pid of toEnd) if (canSignal(pid, 'SIGKILL')) ended.add(pid);
    }
    await sleep(SCAN_MS);
  }
  return ended.size;
}

/** Includes the processes between a launcher and its namespace: the first process of a namespace ends last. */
function orphanedLaunchers(): Orphans {
  const marks = (pid: number) => readMarks(pid, LAUNCHER_MARK, believedUsers(null));
  const found = listPids().filter((pid) => marks(pid).some(isDead) && isRunning(pid));
  // A launcher and the processes around it are in one session.
  const reporting = new Set(found.filter((pid) => titleOf(pid) === REPORTING_TITLE).map(sessionOf));
  const { toEnd = [], spared = [] } = Object.groupBy(found, (pid) =>
    reporting.has(sessionOf(pid)) ? 'spared' : 'toEnd',
  );
  return { toEnd, spared };
}

/**
 * A session with a marked process was begun within its tree, so all of the session belongs to the tree. Processes of other
 * users than the marked one are left alone.
 */
function orphanedTrees(believed: readonly number[]): number[] {
  const outer = process.env[TREE_MARK]?.split(' ') ?? [];
  const pids = listPids();
  const isOrphan = (mark: string) => isDead(mark) && !outer.includes(mark);
  const marked = pids.filter((pid) => readMarks(pid, TREE_MARK, believed).some(isOrphan));
  if (marked.length === 0) return [];
  const sessions = new Set(marked.map(sessionOf));
  return pids.filter((pid) => sessions.has(sessionOf(pid)) && isRunning(pid));
}

/** The session, with the user: in one session there may be processes of several. */
function sessionOf(pid: number): string {
  return `${readStat(pid)?.session} of ${userOf(pid)}`;
}

function isRunning(pid: number): boolean {
  return readStat(pid)?.zombie === false;
}

function removeFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const owner = ownerOfFolder(name);
    if (owner === undefined || !isDead(owner)) continue;
    try {
      removeWorkFolder(join(tmpdir(), name));
    } catch {
      // It belongs to another user.
    }
  }
}
