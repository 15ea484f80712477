/**
 * Starts shells by the C library's `posix_spawn`. Node's `spawn` forks the launcher first, and the kernel copies the
 * page tables of sixty megabytes only to drop them: on Linux that costs more than the shell itself. `node:ffi` is
 * experimental, so it is tested before use, and `nodeStarter` is used if it does not work.
 */

import type * as Ffi from 'node:ffi';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { CommandUser } from './command-user.ts';
import { startErrorOf } from './node-starter.ts';
import { usageIn } from './rusage.ts';
import type { OnShellExit, Shell, ShellStarter } from './shell-starter.ts';
import { ThreadIdentity } from './thread-identity.ts';

const { EACCES, ENOENT, ENOTDIR } = constants.errno;
const POINTER_BYTES = 8;
/** More than any C library needs for one of its opaque structures. */
const STRUCTURE_BYTES = 1_024;
/** The same in every C library for Linux. */
const SET_SIGNAL_DEFAULTS = 0x04;
const SET_SIGNAL_MASK = 0x08;
const SET_SESSION = 0x80;
const READ_ONLY = 0;
const DO_NOT_WAIT = 1;
const ANY_CHILD = -1;
const PR_SET_CHILD_SUBREAPER = 36;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4n;

const FUNCTIONS = {
  getpid: { arguments: [], return: 'int32' },
  abs: { arguments: ['int32'], return: 'int32' },
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
  prctl: { arguments: ['int32', 'int64', 'int64', 'int64', 'int64'], return: 'int32' },
  syscall: { arguments: ['int64', 'int64', 'int64', 'int64'], return: 'int64' },
  wait4: { arguments: ['int32', 'buffer', 'int32', 'buffer'], return: 'int32' },
} as const;

type Functions = ReturnType<typeof Ffi.dlopen<typeof FUNCTIONS>>['functions'];

/**
 * `undefined` if the C library cannot be called, or not as expected. While it is used, no other child may be started.
 * Shells run as `user`, if one is given.
 */
export async function openPosixStarter(user: CommandUser | null): Promise<ShellStarter | undefined> {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return undefined;
  try {
    const ffi = await import('node:ffi');
    const { functions } = ffi.dlopen(null, FUNCTIONS);
    // If this version of Node does not understand the signatures, it takes them for empty ones.
    if (functions.getpid() !== process.pid || functions.abs(-7) !== 7) return undefined;
    const addressOf = (block: Buffer) => (block.length === 0 ? 0n : ffi.getRawPointer(block));
    const identity = user === null ? null : new ThreadIdentity(user, { syscall: functions.syscall, addressOf });
    return new PosixStarter(functions, addressOf, identity);
  } catch {
    return undefined;
  }
}

class PosixStarter implements ShellStarter {
  readonly #c: Functions;
  readonly #addressOf: (block: Buffer) => bigint;
  readonly #identity: ThreadIdentity | null;
  readonly #attributes = memory(STRUCTURE_BYTES);
  readonly #actions = memory(STRUCTURE_BYTES);
  readonly #pid = memory(POINTER_BYTES);
  readonly #status = memory(POINTER_BYTES);
  readonly #used = memory(STRUCTURE_BYTES);
  readonly #running = new Map<number, OnShellExit>();
  readonly adopts: boolean;

  constructor(c: Functions, addressOf: (block: Buffer) => bigint, identity: ThreadIdentity | null) {
    this.#c = c;
    this.#addressOf = addressOf;
    this.#identity = identity;
    must(c.posix_spawnattr_init(this.#attributes));
    must(c.posix_spawnattr_setflags(this.#attributes, SET_SIGNAL_DEFAULTS | SET_SIGNAL_MASK | SET_SESSION));
    const none = memory(STRUCTURE_BYTES);
    must(c.posix_spawnattr_setsigmask(this.#attributes, none));
    // Node ignores SIGPIPE, but a shell must not. `sigfillset` would leave out the two signals reserved for threads.
    must(c.posix_spawnattr_setsigdefault(this.#attributes, none.fill(0xff)));
    this.adopts = c.prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) === 0;
    // Ambient capabilities would pass from root to the user. The user of this process has its rights without them.
    if (identity !== null) must(-c.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0n, 0n, 0n));
    process.on('SIGCHLD', () => this.#collect());
  }

  start({ command, cwd, env, outputFd }: Shell, onExit: OnShellExit): number {
    const argv = this.#vector(['/bin/sh', '-c', command]);
    const envp = this.#vector(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${value}`)),
    );
    const c = this.#c;
    must(c.posix_spawn_file_actions_init(this.#actions));
    let error: number;
    try {
      must(c.posix_spawn_file_actions_addopen(this.#actions, 0, '/dev/null', READ_ONLY, 0));
      must(c.posix_spawn_file_actions_adddup2(this.#actions, outputFd, 1));
      must(c.posix_spawn_file_actions_adddup2(this.#actions, outputFd, 2));
      if (cwd !== null) must(c.posix_spawn_file_actions_addchdir_np(this.#actions, withoutNul(cwd)));
      const spawn = () => c.posix_spawn(this.#pid, '/bin/sh', this.#actions, this.#attributes, argv, envp);
      error = this.#identity === null ? spawn() : this.#identity.during(spawn);
    } finally {
      c.posix_spawn_file_actions_destroy(this.#actions);
    }
    if (error === ENOENT || error === ENOTDIR || error === EACCES) throw new Error(startErrorOf({ cwd }));
    must(error);
    const pid = this.#pid.readInt32LE(0);
    this.#running.set(pid, onExit);
    return pid;
  }

  /** Reaps all ended children: their signals may have been merged into one. */
  #collect(): void {
    for (;;) {
      const pid = this.#c.wait4(ANY_CHILD, this.#status, DO_NOT_WAIT, this.#used);
      if (pid <= 0) return;
      const onExit = this.#running.get(pid);
      this.#running.delete(pid);
      const status = this.#status.readInt32LE(0);
      const signal = status & 0x7f;
      const usage = usageIn(this.#used);
      if (signal === 0) onExit?.({ exitCode: (status >> 8) & 0xff, signal: null, usage });
      else onExit?.({ exitCode: null, signal: nameOfSignal(signal), usage });
    }
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

/** Zeroed memory that does not move: V8 moves small buffers, which it keeps in its heap. */
function memory(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes));
}

function must(error: number): void {
  if (error !== 0) throw new Error(`posix_spawn ${getSystemErrorName(-error)}`);
}

/** NUL would end the C string. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new Error('neither a command nor its environment can hold a NUL');
  return text;
}

function nameOfSignal(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}
