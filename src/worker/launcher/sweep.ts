/** Ends what earlier lives on this machine left behind: commands whose launcher is dead, launchers whose worker is. */

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
  LAUNCHER_MARK,
  listPids,
  readStat,
  readVariable,
  TREE_MARK,
} from './process-table.ts';
import { ownerOfFolder } from './work-folder.ts';

/** A launcher whose worker died is stopping its commands; so long it may go on doing so. */
const PATIENCE_MS = 2_000;
const LOOK_MS = 20;
/** Beyond this, what SIGKILL did not end will not end. */
const GIVE_UP_MS = 10_000;

/**
 * Resolves once nothing is left, with how many processes had to be ended. Whatever belongs to a live worker, or to a
 * machine within this one (a container), is not touched.
 */
export async function sweepOrphans(log: Log): Promise<number> {
  if (!hasProcessTable) return 0;
  const patient = await endAll(orphanedLaunchers, PATIENCE_MS);
  const ended = patient + (await endAll(orphanedTrees, 0));
  removeFolders();
  if (ended > 0) log.warn({ processes: ended }, 'ended commands that an earlier worker had left behind');
  return ended;
}

async function endAll(find: () => number[], patienceMs: number): Promise<number> {
  const ended = new Set<number>();
  const seen = new Set<string>();
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS; waitedMs += LOOK_MS) {
    const found = find();
    for (const pid of found) seen.add(identityOf(pid));
    // While a process dies its environment is gone already, so it is not found, and those it left are not yet orphans.
    if (found.length === 0 && [...seen].every(isDead)) break;
    if (waitedMs >= patienceMs) {
      for (const pid of found) if (canSignal(pid, 'SIGKILL')) ended.add(pid);
    }
    await sleep(LOOK_MS);
  }
  return ended.size;
}

/** With those between them and their namespace: the first process of a namespace is gone only when all others are. */
function orphanedLaunchers(): number[] {
  return listPids().filter((pid) => {
    const worker = readVariable(pid, LAUNCHER_MARK);
    return worker !== undefined && isDead(worker) && isRunning(pid);
  });
}

/** A session that a marked process is in was begun within its tree, so all of it is. */
function orphanedTrees(): number[] {
  const own = marksOf(process.env[TREE_MARK]);
  const pids = listPids();
  const marked = pids.filter((pid) =>
    marksOf(readVariable(pid, TREE_MARK)).some((mark) => isDead(mark) && !own.includes(mark)),
  );
  if (marked.length === 0) return [];
  const sessions = new Set(marked.map((pid) => readStat(pid)?.session));
  return pids.filter((pid) => sessions.has(readStat(pid)?.session ?? -1) && isRunning(pid));
}

function marksOf(value: string | undefined): string[] {
  return value === undefined ? [] : value.split(' ').filter((mark) => mark !== '');
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
      // Another user's: theirs to remove.
    }
  }
}
