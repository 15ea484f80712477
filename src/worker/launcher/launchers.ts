/**
 * The launchers of a worker: one for all commands, and one each for commands that ran when a launcher was killed. A command that
 * kills its launcher interrupts the others once; the next time it is alone, and what it does counts as its own failure.
 */

import { passedOn } from '../command/environment.ts';
import { variablesOf } from './command-user.ts';
import type { DeadlineMessage, GoneMessage, StartMessage } from './frames.ts';
import { type CommandListener, Launcher, type LauncherOptions } from './launcher.ts';
import { sweepOrphans } from './sweep.ts';

/** Each is a process. Further suspects run with all others. */
const MAX_ALONE = 8;
const MAX_SUSPECTS = 1_000;

/** What a worker needs of a launcher. */
export type CommandLauncher = Pick<Launcher, 'run' | 'stop' | 'credit' | 'setDeadline' | 'setGone'> & AsyncDisposable;

export class Launchers implements CommandLauncher {
  readonly #shared: Launcher;
  /** By the number of the command. */
  readonly #alone = new Map<number, Launcher>();
  /** Jobs whose command ran when a launcher was killed. */
  readonly #suspects = new Set<string>();
  #gone: GoneMessage = null;

  /** `shared` must be open. */
  constructor(shared: Launcher) {
    this.#shared = shared;
  }

  run(message: StartMessage, listener: CommandListener): number {
    const job = message.env['WORKRON_JOB_ID'] ?? '';
    const isAlone = this.#suspects.has(job) && this.#alone.size < MAX_ALONE;
    const launcher = isAlone ? this.#shared.sibling() : this.#shared;
    const id = launcher.run(message, {
      onOutput: (data) => listener.onOutput(data),
      onExit: (exit) => {
        const isKilled = exit.stopped === 'launcher' && exit.signal !== null;
        this.#judge(job, isKilled && !isAlone);
        if (isAlone) this.#release(id);
        listener.onExit(isKilled && isAlone ? { ...exit, stopped: null } : exit);
      },
    });
    if (isAlone) this.#alone.set(id, launcher);
    this.#tellGone();
    return id;
  }

  stop(id: number, graceMs: number): void {
    this.#launcherOf(id).stop(id, graceMs);
  }

  credit(id: number, bytes: number): void {
    this.#launcherOf(id).credit(id, bytes);
  }

  setDeadline(message: DeadlineMessage): void {
    for (const launcher of [this.#shared, ...this.#alone.values()]) launcher.setDeadline(message);
  }

  setGone(message: GoneMessage): void {
    this.#gone = message;
    this.#tellGone();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#shared, ...this.#alone.values()].map((launcher) => launcher[Symbol.asyncDispose]()));
  }

  /** A launcher knows nothing of the commands of another one, so none may report that the worker's commands are gone. */
  #tellGone(): void {
    this.#shared.setGone(this.#alone.size === 0 ? this.#gone : null);
  }

  #launcherOf(id: number): Launcher {
    return this.#alone.get(id) ?? this.#shared;
  }

  #judge(job: string, isSuspect: boolean): void {
    this.#suspects.delete(job);
    if (!isSuspect) return;
    this.#suspects.add(job);
    const [first] = this.#suspects;
    if (this.#suspects.size > MAX_SUSPECTS && first !== undefined) this.#suspects.delete(first);
  }

  #release(id: number): void {
    const launcher = this.#alone.get(id);
    this.#alone.delete(id);
    void launcher?.[Symbol.asyncDispose]();
    this.#tellGone();
  }
}

/** Opens launchers after ending what previous ones left on this machine. */
export async function openLauncher(options: Omit<LauncherOptions, 'env'>): Promise<CommandLauncher> {
  const { user } = options.isolation;
  const env = { ...passedOn(process.env), ...(user === null ? {} : variablesOf(user)) };
  const launcher = new Launcher({ ...options, env });
  await sweepOrphans(options.log, user);
  await launcher.open();
  return new Launchers(launcher);
}
