/**
 * Cells: PID namespaces within that of the launcher, one for each command that runs. In its cell a command cannot name a process of
 * another command or the launcher: `kill -9 -1` reaches its own processes only, and its parent is 0. The first process of a cell
 * does nothing and stays for the next command; orphans become its children, and vanish when they end.
 */

import type * as Ffi from 'node:ffi';
import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { canSignal } from './process-table.ts';
import type { Reaper } from './reaper.ts';

const CLONE_FS = 0x0200;
const CLONE_NEWNS = 0x0002_0000;
const CLONE_NEWPID = 0x2000_0000;
const MS_PRIVATE_RECURSIVE = 0x4_4000n;
const PIDFD_OPEN = 434n;
const ANSWER_MS = 5_000;
/** Empty cells beyond this number are closed. */
const KEPT = 16;
/** The kernel reaps the children of a process that ignores SIGCHLD. A shell cannot ignore it; GNU's `env` can make others do so. */
const FIRST_PROCESS = 'exec env --ignore-signal=CHLD sleep 2147483647';
const IGNORES_CHILDREN = /^SigIgn:\s+0*10000$/m;
const LOOK_MS = 10;
/**
 * Runs within the cell: a new /proc shows the namespace of the process that mounts it. Checks that it agrees with the namespace, whose
 * first process is another one.
 */
const MOUNT = `mount -t proc -o nosuid,nodev,noexec proc /proc &&
  read -r pid rest </proc/self/stat && [ "$pid" = "$$" ] && [ "$$" != 1 ] && [ "$PPID" = 0 ] && [ -d /proc/1 ]`;

const FUNCTIONS = {
  unshare: { arguments: ['int32'], return: 'int32' },
  fchdir: { arguments: ['int32'], return: 'int32' },
  chroot: { arguments: ['string'], return: 'int32' },
  setns: { arguments: ['int32', 'int32'], return: 'int32' },
  mount: { arguments: ['string', 'string', 'string', 'uint64', 'uint64'], return: 'int32' },
  syscall: { arguments: ['int64', 'int64', 'int64', 'int64'], return: 'int64' },
} as const;

type Functions = ReturnType<typeof Ffi.dlopen<typeof FUNCTIONS>>['functions'];

/** Starts a shell in the current namespaces of this thread, in `/`, without output. */
type Spawn = (command: string) => number;

export interface Cell {
  /** Its first process. */
  readonly pid: number;
  readonly fd: number;
}

/** `undefined` if cells cannot be made here. */
export async function openCells(ffi: typeof Ffi, reaper: Reaper, spawn: Spawn): Promise<Cells | undefined> {
  try {
    const cells = new Cells(ffi.dlopen(null, FUNCTIONS).functions, reaper, spawn);
    const first = await cells.make();
    if (first === undefined) return undefined;
    cells.giveBack(first);
    return cells;
  } catch {
    return undefined;
  }
}

export class Cells {
  readonly #c: Functions;
  readonly #reaper: Reaper;
  readonly #spawn: Spawn;
  readonly #ownMounts: number;
  readonly #ownPids: number;
  readonly #free: Cell[] = [];
  readonly #closed = new Set<Cell>();
  /** The first process of each cell, and the tree whose orphans become its children; 0: none. */
  readonly inits = new Map<number, number>();

  constructor(c: Functions, reaper: Reaper, spawn: Spawn) {
    this.#c = c;
    this.#reaper = reaper;
    this.#spawn = spawn;
    // Only a thread that shares its root and working directory with no other may change its mounts.
    must(c.unshare(CLONE_FS));
    this.#ownMounts = openSync('/proc/self/ns/mnt', 'r');
    this.#ownPids = openSync('/proc/self/ns/pid', 'r');
    this.#assertNoOtherRoot();
  }

  /** Returns an empty cell, if there is one. */
  take(): Cell | undefined {
    return this.#free.pop();
  }

  /** Resolves with a new one, or with `undefined` if none can be made. */
  async make(): Promise<Cell | undefined> {
    const cell = this.#begin();
    if (cell === undefined || !this.enter(cell, 0)) return undefined;
    const mounting = this.#spawn(MOUNT);
    this.leave();
    const works = await new Promise<boolean>((resolve) => {
      const timer = setTimeout(() => resolve(false), ANSWER_MS);
      this.#reaper.watch(mounting, ({ exitCode }) => {
        clearTimeout(timer);
        resolve(exitCode === 0);
      });
    });
    if (works && (await ignoresChildren(cell.pid))) return cell;
    this.close(cell);
    return undefined;
  }

  /** What this thread starts from now on is in the cell, for the tree, until `leave`. False if somebody has ended the cell. */
  enter({ pid, fd }: Cell, tree: number): boolean {
    if (this.#c.setns(fd, CLONE_NEWNS | CLONE_NEWPID) !== 0) return false;
    this.inits.set(pid, tree);
    return true;
  }

  leave(): void {
    // A launcher in a namespace of one of its commands could see nothing of the others.
    if (this.#c.setns(this.#ownMounts, CLONE_NEWNS) !== 0 || this.#c.setns(this.#ownPids, CLONE_NEWPID) !== 0) {
      process.abort();
    }
  }

  /** No process but the first is left in it. */
  giveBack(cell: Cell): void {
    if (this.#closed.has(cell)) return;
    this.inits.set(cell.pid, 0);
    if (this.#free.length < KEPT) this.#free.push(cell);
    else this.close(cell);
  }

  close({ pid }: Cell): void {
    canSignal(pid, 'SIGKILL');
  }

  #begin(): Cell | undefined {
    const c = this.#c;
    if (c.unshare(CLONE_NEWNS | CLONE_NEWPID) !== 0) return undefined;
    let pid: number;
    try {
      // Otherwise the machine would get the new /proc too. Other mounts stay shared with the machine.
      must(c.mount('none', '/proc', '', MS_PRIVATE_RECURSIVE, 0n));
      pid = this.#spawn(FIRST_PROCESS);
    } catch {
      return undefined;
    } finally {
      this.leave();
    }
    const cell = { pid, fd: Number(c.syscall(PIDFD_OPEN, BigInt(pid), 0n, 0n)) };
    this.inits.set(pid, 0);
    this.#reaper.watch(pid, () => this.#ended(cell));
    return cell;
  }

  #ended(cell: Cell): void {
    this.inits.delete(cell.pid);
    this.#closed.add(cell);
    const at = this.#free.indexOf(cell);
    if (at >= 0) this.#free.splice(at, 1);
    if (cell.fd >= 0) closeSync(cell.fd);
  }

  /** Entering a mount namespace leaves a changed root. */
  #assertNoOtherRoot(): void {
    const root = openSync('/', 'r');
    const before = fstatSync(root);
    this.leave();
    const after = statSync('/');
    try {
      if (before.ino === after.ino && before.dev === after.dev) return;
      must(this.#c.fchdir(root));
      must(this.#c.chroot('.'));
      throw new Error('this process has another root than its mounts');
    } finally {
      closeSync(root);
    }
  }
}

/** False if it does not within a time in which every program starts. */
async function ignoresChildren(pid: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < ANSWER_MS; waitedMs += LOOK_MS) {
    try {
      if (IGNORES_CHILDREN.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) return true;
    } catch {
      return false;
    }
    await sleep(LOOK_MS);
  }
  return false;
}

function must(answer: number): void {
  if (answer !== 0) throw new Error('namespaces cannot be changed');
}
