/**
 * Starts shells as another user, by a process that has become that user for good (`starter-process.ts`). The launcher itself stays
 * root in all its threads: whoever has the real user id of a process may kill it. If the starter is killed, its shells become
 * children of the launcher, which reports how they end, and the next shell is started by a new one.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandUser } from './command-user.ts';
import { encodeMessage, FRAME, FrameReader } from './frames.ts';
import { canSignal, identityOf, LAUNCHER_MARK, listPids, readMarks, readStat, TREE_MARK } from './process-table.ts';
import { openReaper, type Reaper } from './reaper.ts';
import type { Shell, ShellEvents, ShellExit, ShellStarter } from './shell-starter.ts';

const LOOK_MS = 5;
const GIVE_UP_MS = 5_000;

export interface StarterOptions {
  means: string;
  user: CommandUser;
}

interface StartedShell {
  events: ShellEvents;
  mark: string;
  pid: number | undefined;
}

interface Starter {
  process: ChildProcess;
  input: Socket;
  shells: Map<number, StartedShell>;
}

export async function openRemoteStarter(options: StarterOptions): Promise<ShellStarter> {
  const reaper = options.means === 'auto' ? await openReaper({ adopts: true }) : undefined;
  return new RemoteStarter(options, reaper);
}

class RemoteStarter implements ShellStarter {
  readonly #options: StarterOptions;
  readonly #reaper: Reaper | undefined;
  readonly helpers = new Map<number, null>();
  readonly adopts: boolean;
  #starter: Starter | undefined;

  constructor(options: StarterOptions, reaper: Reaper | undefined) {
    this.#options = options;
    this.#reaper = reaper;
    this.adopts = reaper !== undefined;
    this.#starter = this.#open();
  }

  start({ id, command, cwd, env, output }: Shell, events: ShellEvents): void {
    this.#starter ??= this.#open();
    const mark = env[TREE_MARK]?.split(' ').at(-1) ?? '';
    this.#starter.shells.set(id, { events, mark, pid: undefined });
    this.#starter.input.write(encodeMessage(FRAME.start, id, { id, command, cwd, env, output: output.path }));
  }

  forget(): void {}

  giveUpStarts(): void {
    const pid = this.#starter?.process.pid;
    if (pid !== undefined) canSignal(pid, 'SIGKILL');
  }

  #open(): Starter {
    const { [LAUNCHER_MARK]: _, ...env } = process.env;
    // A sweep finds it by the mark if it is left behind.
    const marked = { ...env, [TREE_MARK]: `${identityOf(process.pid)}.0` };
    const args = [...process.execArgv, process.argv[1] as string, 'starter', JSON.stringify(this.#options)];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env: marked, cwd: '/' });
    child.on('error', () => undefined);
    const input = child.stdin as Socket;
    input.on('error', () => undefined);
    const starter: Starter = { process: child, input, shells: new Map() };
    const frames = new FrameReader((kind, id, payload) =>
      this.#receive(starter, kind, id, JSON.parse(payload.toString())),
    );
    child.stdout.on('data', (chunk: Buffer) => frames.push(chunk));
    // Not its exit, which the reaper may have taken. Its shells do not hold this pipe.
    child.stdout.once('close', () => this.#died(starter));
    if (child.pid !== undefined) this.helpers.set(child.pid, null);
    return starter;
  }

  #receive({ shells }: Starter, kind: number, id: number, message: unknown): void {
    const shell = shells.get(id);
    if (shell === undefined) return;
    if (kind === FRAME.started) {
      this.#began(shells, id, message as number);
    } else if (kind === FRAME.refused) {
      shells.delete(id);
      shell.events.onRefused(message as string);
    } else if (kind === FRAME.ended) {
      this.#ended(shells, id, message as ShellExit);
    }
  }

  #began(shells: Starter['shells'], id: number, pid: number): void {
    const shell = shells.get(id);
    if (shell === undefined) return;
    shell.pid = pid;
    this.#reaper?.watch(pid, (exit) => this.#ended(shells, id, exit));
    shell.events.onStart(pid);
  }

  #ended(shells: Starter['shells'], id: number, exit: ShellExit): void {
    const shell = shells.get(id);
    if (shell?.pid === undefined) return;
    shells.delete(id);
    this.#reaper?.forget(shell.pid);
    shell.events.onExit(exit);
  }

  #died(starter: Starter): void {
    const { process: child, input } = starter;
    if (this.#starter === starter) this.#starter = undefined;
    input.destroy();
    // It closed its output, but may not have ended.
    if (child.pid !== undefined) canSignal(child.pid, 'SIGKILL');
    void this.#adopt(starter);
  }

  /** The launcher becomes the parent of the shells of a killed starter, if it can adopt. */
  async #adopt({ process: child, shells }: Starter): Promise<void> {
    const adopts = this.#reaper !== undefined && child.pid !== undefined;
    const children = adopts ? await childrenAfter(child.pid) : [];
    if (child.pid !== undefined) this.helpers.delete(child.pid);
    for (const [id, shell] of shells) {
      // One that was started, but not reported, is found by its mark.
      const pid = shell.pid ?? children.find((one) => this.#isShell(one, shell.mark));
      if (pid !== undefined && children.includes(pid)) {
        if (shell.pid === undefined) this.#began(shells, id, pid);
        continue;
      }
      shells.delete(id);
      if (pid !== undefined) this.#reaper?.forget(pid);
      shell.events.onLost();
    }
  }

  #isShell(pid: number, mark: string): boolean {
    return readStat(pid)?.session === pid && readMarks(pid, TREE_MARK, [this.#options.user.uid]).includes(mark);
  }
}

/** The children of this process once `pid` has none any more: a process that ends closes its files first. */
async function childrenAfter(pid: number): Promise<number[]> {
  const childrenOf = (parent: number) => listPids().filter((one) => readStat(one)?.parent === parent);
  for (let waitedMs = 0; waitedMs < GIVE_UP_MS && childrenOf(pid).length > 0; waitedMs += LOOK_MS) await sleep(LOOK_MS);
  return childrenOf(process.pid);
}
