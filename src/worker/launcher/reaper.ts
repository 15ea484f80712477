/**
 * Collects the children of this process that have ended, by calls of the C library (`node:ffi`, which is experimental and
 * therefore tested before use). It can adopt: a process whose parent has ended becomes a child of this process.
 */

import type * as Ffi from 'node:ffi';
import { constants } from 'node:os';
import { usageIn } from './rusage.ts';
import type { OnShellExit } from './shell-starter.ts';

const DO_NOT_WAIT = 1;
const ANY_CHILD = -1;
const PR_SET_CHILD_SUBREAPER = 36;
const POINTER_BYTES = 8;
/** More than any C library needs for one of its structures. */
const STRUCTURE_BYTES = 1_024;

const FUNCTIONS = {
  getpid: { arguments: [], return: 'int32' },
  abs: { arguments: ['int32'], return: 'int32' },
  prctl: { arguments: ['int32', 'int64', 'int64', 'int64', 'int64'], return: 'int32' },
  wait4: { arguments: ['int32', 'buffer', 'int32', 'buffer'], return: 'int32' },
} as const;

type Functions = ReturnType<typeof Ffi.dlopen<typeof FUNCTIONS>>['functions'];

/** `undefined` if the C library cannot be called, or not as expected. */
export async function openReaper({ adopts }: { adopts: boolean }): Promise<Reaper | undefined> {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return undefined;
  try {
    const ffi = await import('node:ffi');
    const { functions } = ffi.dlopen(null, FUNCTIONS);
    // If this version of Node does not understand the signatures, it takes them for empty ones.
    if (functions.getpid() !== process.pid || functions.abs(-7) !== 7) return undefined;
    if (adopts && functions.prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) !== 0) return undefined;
    return new Reaper(functions);
  } catch {
    return undefined;
  }
}

export class Reaper {
  readonly #c: Functions;
  readonly #status = memory(POINTER_BYTES);
  readonly #used = memory(STRUCTURE_BYTES);
  readonly #watched = new Map<number, OnShellExit>();

  constructor(c: Functions) {
    this.#c = c;
    process.on('SIGCHLD', () => this.#collect());
  }

  /** Calls back once, when the process was reaped as a child of this one. */
  watch(pid: number, onExit: OnShellExit): void {
    this.#watched.set(pid, onExit);
  }

  /** To be called if another process has reaped it. */
  forget(pid: number): void {
    this.#watched.delete(pid);
  }

  /** Reaps all ended children: their signals may have been merged into one. */
  #collect(): void {
    for (;;) {
      const pid = this.#c.wait4(ANY_CHILD, this.#status, DO_NOT_WAIT, this.#used);
      if (pid <= 0) return;
      const onExit = this.#watched.get(pid);
      this.#watched.delete(pid);
      const status = this.#status.readInt32LE(0);
      const signal = status & 0x7f;
      const usage = usageIn(this.#used);
      if (signal === 0) onExit?.({ exitCode: (status >> 8) & 0xff, signal: null, usage });
      else onExit?.({ exitCode: null, signal: nameOfSignal(signal), usage });
    }
  }
}

/** Zeroed memory that does not move: V8 moves small buffers, which it keeps in its heap. */
export function memory(bytes: number): Buffer {
  return Buffer.from(new ArrayBuffer(bytes));
}

function nameOfSignal(number: number): string {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `SIG${number}`;
}
