/**
 * Another user's identity for the calling thread alone, so that what it starts meanwhile runs as that user from its first
 * instruction on. The C library's own functions change all threads, and `posix_spawn` has no attribute for a user. The saved
 * ids stay those of this process: by them the thread comes back. A program that is executed loses them.
 */

import type { CommandUser } from './command-user.ts';

/** Numbers of system calls. */
const CALLS: Partial<Record<NodeJS.Architecture, Record<'setgroups' | 'setresuid' | 'setresgid', bigint>>> = {
  x64: { setgroups: 116n, setresuid: 117n, setresgid: 119n },
  arm64: { setgroups: 159n, setresuid: 147n, setresgid: 149n },
};

interface Kernel {
  syscall: (number: bigint, first: bigint, second: bigint, third: bigint) => bigint;
  addressOf: (block: Buffer) => bigint;
}

export class ThreadIdentity {
  readonly #kernel: Kernel;
  readonly #calls: NonNullable<(typeof CALLS)['x64']>;
  readonly #user: { uid: bigint; gid: bigint; groups: Buffer };
  readonly #own: { uid: bigint; gid: bigint; groups: Buffer };

  constructor(user: CommandUser, kernel: Kernel) {
    const calls = CALLS[process.arch];
    if (calls === undefined) throw new Error(`no system calls are known for ${process.arch}`);
    this.#calls = calls;
    this.#kernel = kernel;
    this.#user = { uid: BigInt(user.uid), gid: BigInt(user.gid), groups: listOf(user.groups) };
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    this.#own = { uid: BigInt(uid), gid: BigInt(gid), groups: listOf(process.getgroups?.() ?? []) };
  }

  /** Runs `work` as the user. Throws, without running it, if that is refused. */
  during<T>(work: () => T): T {
    const { setgroups, setresuid, setresgid } = this.#calls;
    const { uid, gid, groups } = this.#user;
    const { uid: ownUid, gid: ownGid } = this.#own;
    try {
      this.#must(this.#setGroups(setgroups, groups));
      this.#must(this.#kernel.syscall(setresgid, gid, gid, ownGid));
      this.#must(this.#kernel.syscall(setresuid, uid, uid, ownUid));
      return work();
    } finally {
      this.#restore();
    }
  }

  #restore(): void {
    const { setgroups, setresuid, setresgid } = this.#calls;
    const { uid, gid, groups } = this.#own;
    const refused =
      this.#kernel.syscall(setresuid, uid, uid, uid) !== 0n ||
      this.#kernel.syscall(setresgid, gid, gid, gid) !== 0n ||
      this.#setGroups(setgroups, groups) !== 0n;
    // A launcher with the wrong identity could neither stop its commands nor start others.
    if (refused) process.abort();
  }

  #setGroups(number: bigint, groups: Buffer): bigint {
    return this.#kernel.syscall(number, BigInt(groups.length / 4), this.#kernel.addressOf(groups), 0n);
  }

  #must(answer: bigint): void {
    if (answer !== 0n) throw new Error('this process may not change its user');
  }
}

/** An array of C integers that does not move. */
function listOf(ids: readonly number[]): Buffer {
  const block = Buffer.from(new ArrayBuffer(ids.length * 4));
  for (const [index, id] of ids.entries()) block.writeUInt32LE(id, index * 4);
  return block;
}
