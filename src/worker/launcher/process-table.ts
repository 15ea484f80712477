/** The process table, read from /proc. On systems without it (macOS) no processes are listed. */

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The tree that a process belongs to; a list if a tree runs within a tree. */
export const TREE_MARK = 'WORKRON_TREE';
/** The worker that a launcher belongs to. */
export const LAUNCHER_MARK = 'WORKRON_LAUNCHER';

/** The title of a launcher that has no process left to end and only reports that. */
export const REPORTING_TITLE = 'workron launcher (reports)';

/** Variables of the worker that its launcher gets too, and that are not passed on to commands. */
export const LAUNCHER_VARIABLES = ['NODE_COMPILE_CACHE', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA'] as const;

export interface ProcessStat {
  parent: number;
  group: number;
  session: number;
  /** In clock ticks since boot. Together with the pid it identifies a process for good. */
  startedAt: string;
  /** Dead, but not yet reaped by its parent. */
  zombie: boolean;
}

export const hasProcessTable: boolean = existsSync('/proc/self/stat');

export function listPids(): number[] {
  const pids: number[] = [];
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0);
    if (first >= 49 && first <= 57) pids.push(Number(name));
  }
  return pids;
}

/** `undefined`: no such process. */
export function readStat(pid: number): ProcessStat | undefined {
  const text = readOr(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name, in parentheses, may contain anything, including parentheses and spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ', 20);
  return {
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startedAt: fields[19] as string,
    zombie: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** A variable of the environment that a process was started with; `undefined` if it is not set or may not be read. */
export function readVariable(pid: number, name: string): string | undefined {
  const text = readOr(`/proc/${pid}/environ`);
  if (text === undefined || !text.includes(name)) return undefined;
  const found = text.split('\0').find((entry) => entry.startsWith(`${name}=`));
  return found?.slice(name.length + 1);
}

/** The title that a process has given itself, or its first argument. */
export function titleOf(pid: number): string | undefined {
  return readOr(`/proc/${pid}/cmdline`)?.split('\0', 1)[0];
}

/**
 * The marks in `name` that a process may carry. Anybody can start a process with any environment, so the marks say nothing in
 * a process of a user that is not in `believed`, and neither does a mark whose owner started after the process.
 */
export function readMarks(pid: number, name: string, believed: readonly number[]): string[] {
  const value = readVariable(pid, name);
  if (value === undefined || !believed.includes(userOf(pid))) return [];
  const startedAt = Number(readStat(pid)?.startedAt ?? 0);
  return value.split(' ').filter((mark) => mark !== '' && Number(mark.split('.')[2]) <= startedAt);
}

/** The user that started the process: a set-user-ID program changes only its effective user. -1: no such process. */
export function userOf(pid: number): number {
  return Number(/^Uid:\t(\d+)/m.exec(readOr(`/proc/${pid}/status`) ?? '')?.[1] ?? -1);
}

/** The users whose marks are believed: that of this process, and that of its commands, if it is another. */
export function believedUsers(commandUser: { uid: number } | null): number[] {
  const own = process.getuid?.() ?? -1;
  return commandUser === null ? [own] : [own, commandUser.uid];
}

/** The PID namespace of this process. Pids of another namespace mean nothing here. */
const namespace: string = readNamespace();

function readNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

/** Identifies a process by namespace, pid and start. Marks consist of such identities. */
export function identityOf(pid: number): string {
  return `${namespace}.${pid}.${readStat(pid)?.startedAt ?? '0'}`;
}

/**
 * True if the process that `identity` begins with is known to be dead: it was in this namespace and no longer exists.
 */
export function isDead(identity: string): boolean {
  const [home, pid, startedAt] = identity.split('.');
  if (home !== namespace) return false;
  if (!hasProcessTable) return !canSignal(Number(pid));
  const stat = readStat(Number(pid));
  return stat === undefined || stat.startedAt !== startedAt || stat.zombie;
}

/** Returns true if the signal could be sent; signal 0 only checks. A negative pid means a process group. */
export function canSignal(pid: number, signal: NodeJS.Signals | 0 = 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
