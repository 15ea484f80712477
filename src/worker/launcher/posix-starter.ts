/**
 * Starts shells by the C library's `posix_spawn`. Node's `spawn` forks this process first, and the kernel copies the
 * page tables of sixty megabytes only to drop them: on Linux that costs more than the shell itself. `nodeStarter` is used
 * if the C library cannot be called.
 */

import type * as Ffi from 'node:ffi';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { type Cell, type Cells, openCells } from './cells.ts';
import { startErrorOf } from './node-starter.ts';
import { memory, openReaper, type Reaper } from './reaper.ts';
import type { Shell, ShellEvents, ShellStarter } from './shell-starter.ts';

const { EACCES, ENOENT, ENOTDIR } = constants.errno;
const POINTER_BYTES = 8;
/** More than any C library needs for one of its opaque structures. */
const STRUCTURE_BYTES = 1_024;
/** The same in every C library for Linux. */
const SET_SIGNAL_DEFAULTS = 0x04;
const SET_SIGNAL_MASK = 0x08;
const SET_SESSION = 0x80;
const READ_ONLY = 0;
const READ_AND_WRITE = 2;
const NO_HELPERS: ReadonlyMap<number, number> = new Map();

const FUNCTIONS = {
  posix_spawn: { arguments: ['buffer', 'string', 'buffer', 'buffer', 'buffer', 'buffer'], return: 'int32' },
  posix_spawnattr_init: { arguments: ['buffer'], return: 'int32' },
  posix_spawnattr_setflags: { arguments: ['buffer', 'int16'], return: 'int32' },
  posix_spawnattr_setsigdefault: { arguments: ['buffer', 'buffer'], return: 'int32' },
  posix_spawnattr_setsigmask: { arguments: ['buffer', 'buffer'], return: 'int32' },
  posix_spawn_file_actions_init: { arguments: ['buffer'], return: 'int32' },
  posix_spawn_file_actions_destroy: { arguments: ['buffer'], return: 'int32' },
  posix_spawn_file_actions_addopen: { arguments: ['buffer', 'int32', 'string', 'int32', 'uint32'], return: 'int32' },
  posix_spawn_file_actions_adddup2: { arguments: ['buffer', 'int32', 'int32'], return: 'int32' },
  posix_spawn_file_actions_addchdir_np: { arguments: ['buffer', 'string'], return: 'int32' },
} as const;

type Functions = ReturnType<typeof Ffi.dlopen<typeof FUNCTIONS>>['functions'];

interface PosixOptions {
  /** Processes whose parent has ended become children of this process. */
  adopts: boolean;
  /** Each shell runs in a cell, if that is possible. */
  cells: boolean;
}

/** `undefined` if the C library cannot be called, or not as expected. While it is used, no other child may be started. */
export async function openPosixStarter({ adopts, cells }: PosixOptions): Promise<ShellStarter | undefined> {
  try {
    const ffi = await import('node:ffi');
    const { functions } = ffi.dlopen(null, FUNCTIONS);
    // Last: from here on it reaps what others start, too.
    const reaper = await openReaper({ adopts });
    if (reaper === undefined) return undefined;
    const starter = new PosixStarter(functions, (block) => ffi.getRawPointer(block), reaper, adopts);
    if (cells) starter.cells = await openCells(ffi, reaper, (command) => starter.spawnQuietly(command));
    return starter;
  } catch {
    return undefined;
  }
}

class PosixStarter implements ShellStarter {
  readonly #c: Functions;
  readonly #addressOf: (block: Buffer) => bigint;
  readonly #reaper: Reaper;
  readonly #attributes = memory(STRUCTURE_BYTES);
  readonly #actions = memory(STRUCTURE_BYTES);
  readonly #pid = memory(POINTER_BYTES);
  /** Changes of namespaces change the folder of this process. */
  readonly #home = process.cwd();
  readonly #cellOf = new Map<number, Cell>();
  /** Shells that wait for a cell. */
  readonly #waiting = new Map<number, ShellEvents>();
  readonly adopts: boolean;
  cells: Cells | undefined;

  constructor(c: Functions, addressOf: (block: Buffer) => bigint, reaper: Reaper, adopts: boolean) {
    this.#c = c;
    this.#addressOf = addressOf;
    this.#reaper = reaper;
    this.adopts = adopts;
    must(c.posix_spawnattr_init(this.#attributes));
    must(c.posix_spawnattr_setflags(this.#attributes, SET_SIGNAL_DEFAULTS | SET_SIGNAL_MASK | SET_SESSION));
    const none = memory(STRUCTURE_BYTES);
    must(c.posix_spawnattr_setsigmask(this.#attributes, none));
    // Node ignores SIGPIPE, but a shell must not. `sigfillset` would leave out the two signals reserved for threads.
    must(c.posix_spawnattr_setsigdefault(this.#attributes, none.fill(0xff)));
  }

  get helpers(): ReadonlyMap<number, number> {
    return this.cells?.inits ?? NO_HELPERS;
  }

  start(shell: Shell, events: ShellEvents): void {
    const { cells } = this;
    const cell = cells?.take();
    if (cells === undefined || cell !== undefined) return this.#startIn(cell, shell, events);
    this.#waiting.set(shell.id, events);
    void cells.make().then((made) => {
      if (!this.#waiting.delete(shell.id)) return made === undefined ? undefined : cells.giveBack(made);
      try {
        this.#startIn(made, shell, events);
      } catch (error) {
        events.onRefused(error instanceof Error ? error.message : String(error));
      }
    });
  }

  forget(id: number): void {
    const cell = this.#cellOf.get(id);
    if (cell === undefined) return;
    this.#cellOf.delete(id);
    this.cells?.giveBack(cell);
  }

  giveUpStarts(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { onLost } of waiting) onLost();
  }

  #startIn(given: Cell | undefined, shell: Shell, { onStart, onExit }: ShellEvents): void {
    const { id, command, env, output } = shell;
    const cell = given !== undefined && this.cells?.enter(given, id) === true ? given : undefined;
    const cwd = shell.cwd ?? (cell === undefined ? null : this.#home);
    let pid: number;
    try {
      pid = this.#spawn({ command, cwd, env }, output.writeFd);
    } catch (error) {
      if (cell !== undefined) this.cells?.giveBack(cell);
      throw error;
    } finally {
      if (cell !== undefined) this.cells?.leave();
    }
    if (cell !== undefined) this.#cellOf.set(id, cell);
    this.#reaper.watch(pid, onExit);
    onStart(pid);
  }

  /** Starts a shell of the launcher itself. */
  spawnQuietly(command: string): number {
    return this.#spawn({ command, cwd: '/', env: { PATH: process.env['PATH'] } }, null);
  }

  /** Returns the pid, or throws. `outputFd`: `null` for none. */
  #spawn({ command, cwd, env }: Pick<Shell, 'command' | 'cwd' | 'env'>, outputFd: number | null): number {
    const argv = this.#vector(['/bin/sh', '-c', command]);
    const envp = this.#vector(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`)),
    );
    const c = this.#c;
    must(c.posix_spawn_file_actions_init(this.#actions));
    let error: number;
    try {
      must(
        c.posix_spawn_file_actions_addopen(
          this.#actions,
          0,
          '/dev/null',
          outputFd === null ? READ_AND_WRITE : READ_ONLY,
          0,
        ),
      );
      must(c.posix_spawn_file_actions_adddup2(this.#actions, outputFd ?? 0, 1));
      must(c.posix_spawn_file_actions_adddup2(this.#actions, outputFd ?? 0, 2));
      if (cwd !== null) must(c.posix_spawn_file_actions_addchdir_np(this.#actions, withoutNul(cwd)));
      error = c.posix_spawn(this.#pid, '/bin/sh', this.#actions, this.#attributes, argv, envp);
    } finally {
      c.posix_spawn_file_actions_destroy(this.#actions);
    }
    if (error === ENOENT || error === ENOTDIR || error === EACCES) throw new Error(startErrorOf({ cwd }));
    must(error);
    return this.#pid.readInt32LE(0);
  }

  /** An array of C strings: their addresses, a null pointer, and then the strings. */
  #vector(texts: readonly string[]): Buffer {
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    let at = (texts.length + 1) * POINTER_BYTES;
    const block = memory(at + bytes);
    const address = this.#addressOf(block);
    for (const [index, text] of texts.entries()) {
      block.writeBigUInt64LE(address + BigInt(at), index * POINTER_BYTES);
      at += block.write(withoutNul(text), at) + 1;
    }
    return block;
  }
}

function must(error: number): void {
  if (error !== 0) throw new Error(`posix_spawn ${getSystemErrorName(-error)}`);
}

/** NUL would end the C string. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new Error('neither a command nor its environment can hold a NUL');
  return text;
}
