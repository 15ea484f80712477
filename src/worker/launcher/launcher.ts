/** The worker's side of its launcher: starts it, sends it commands, and replaces it if it dies. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Part } from '../../core/part.ts';
import type { Log } from '../../ops/log.ts';
import { monotonicMs } from '../../ops/monotonic.ts';
import { pathInto } from '../../ops/start-part.ts';
import type { Isolation } from '../command/isolation.ts';
import { endControlGroup, enterControlGroup, makeControlGroup } from './cgroup.ts';
import {
  type DeadlineMessage,
  type ExitMessage,
  encodeFrame,
  encodeMessage,
  FRAME,
  FrameReader,
  type GoneMessage,
  type StartMessage,
} from './frames.ts';
import type { LauncherProcessOptions } from './launcher-process.ts';
import { canEnclose, enclose } from './namespace.ts';
import { withoutNewPrivileges } from './no-new-privileges.ts';
import { identityOf, LAUNCHER_MARK, LAUNCHER_VARIABLES } from './process-table.ts';
import { sweepOrphans } from './sweep.ts';
import { letPass } from './work-folder.ts';

const ENTRY: Part = { file: new URL('./main.ts', import.meta.url) };
/** SIGUSR1, which a command may send, would open the debugger to all users of the machine. */
const FLAGS = ['--max-old-space-size=64', '--disable-warning=ExperimentalWarning', '--disable-sigusr1'];
/** A launcher that died younger than this is not restarted at once. */
const YOUNG_MS = 5_000;
const PAUSE_MS = 2_000;
/** How a shell reports that its child was killed. */
const KILLED = 128 + constants.signals.SIGKILL;

/** Numbers of commands are unique in this process. */
let nextId = 1;

export interface LauncherOptions {
  isolation: Omit<Isolation, 'limits'>;
  /** `auto`: the cheapest way to start a shell that this version of Node offers. `node`: without calls of the C library. */
  starter?: 'auto' | 'node';
  /** For its pipes. */
  folder: { readonly path: string };
  /** The environment of commands, in addition to their own variables. */
  env: Readonly<Record<string, string>>;
  log: Log;
}

export interface CommandListener {
  /** The bytes are valid only during the call. They must be credited before more than one window is sent. */
  onOutput(data: Buffer): void;
  /** No process of the command is left. Called once, after all output. */
  onExit(exit: ExitMessage): void;
}

interface Death {
  young: boolean;
  emptied: Promise<unknown> | undefined;
  signal: 'SIGKILL' | null;
}

export class Launcher implements AsyncDisposable {
  readonly #options: LauncherOptions;
  readonly #running = new Map<number, CommandListener>();
  #enclosed = false;
  /** Returns the path of the launcher's code, given a folder of its own. */
  #entry: (folder: string) => string = () => '';
  #child: ChildProcess | undefined;
  #input: Socket | undefined;
  #deadline: { message: DeadlineMessage; at: number } | undefined;
  #gone: GoneMessage = null;
  /** Launchers that died, and whose commands may be left. */
  #unswept = 0;
  #starter: 'auto' | 'node';
  #closing = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#starter = options.starter ?? 'auto';
  }

  /** The pid of the launcher; `undefined` while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** True if commands run in their own PID namespace. */
  get enclosed(): boolean {
    return this.#enclosed;
  }

  async open(): Promise<void> {
    this.#enclosed = this.#options.isolation.pidNamespace === 'auto' && (await canEnclose());
    this.#entry = await pathInto(ENTRY);
    this.#start();
  }

  /** Starts another one beside this one, which must be open. */
  sibling(): Launcher {
    const other = new Launcher(this.#options);
    other.#enclosed = this.#enclosed;
    other.#entry = this.#entry;
    other.#starter = this.#starter;
    other.#deadline = this.#deadline;
    other.#start();
    return other;
  }

  /** Returns the number of the command. */
  run(message: StartMessage, listener: CommandListener): number {
    const id = nextId++;
    if (this.#child === undefined) this.#start();
    this.#running.set(id, listener);
    this.#send(encodeMessage(FRAME.start, id, message));
    return id;
  }

  stop(id: number, graceMs: number): void {
    if (this.#running.has(id)) this.#send(encodeMessage(FRAME.stop, id, { graceMs }));
  }

  /** Reports that this many bytes of the command's output were processed. */
  credit(id: number, bytes: number): void {
    if (!this.#running.has(id)) return;
    const payload = Buffer.allocUnsafe(4);
    payload.writeUInt32LE(bytes, 0);
    this.#send(encodeFrame(FRAME.credit, id, payload));
  }

  setDeadline(message: DeadlineMessage): void {
    this.#deadline = { message, at: monotonicMs() };
    this.#send(encodeMessage(FRAME.deadline, 0, message));
  }

  /** Sets what the launcher reports if this process ends and no command is left. */
  setGone(message: GoneMessage): void {
    this.#gone = message;
    // The next launcher knows nothing of commands that one before it has left.
    if (this.#unswept === 0) this.#send(encodeMessage(FRAME.gone, 0, message));
  }

  /** Stops running commands and ends the launcher. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.setGone(null);
    this.#input?.end();
    await ended;
  }

  #start(): void {
    const { folder, env, log, isolation } = this.#options;
    const pipes = mkdtempSync(join(folder.path, 'pipes-'));
    if (isolation.user !== null) letPass(pipes);
    const group = this.#enclosed ? undefined : makeControlGroup();
    const own: LauncherProcessOptions = {
      folder: pipes,
      enclosed: this.#enclosed,
      means: this.#starter,
      user: isolation.user,
      group: group ?? null,
    };
    const node = [process.execPath, ...FLAGS, this.#entry(pipes), 'launcher', JSON.stringify(own)];
    const launcher = isolation.noNewPrivileges ? withoutNewPrivileges(node) : node;
    const [command, ...args] = this.#enclosed ? enclose(launcher) : launcher;
    const child = spawn(command as string, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Not attached to the terminal: Ctrl-C must reach only the worker.
      detached: true,
      env: { ...env, ...ownVariables(), [LAUNCHER_MARK]: identityOf(process.pid) },
    });
    // It starts nothing before its first frame.
    if (group !== undefined && child.pid !== undefined) enterControlGroup(group, child.pid);
    const startedAt = monotonicMs();
    const frames = new FrameReader((kind, id, payload) => this.#receive(kind, id, payload));
    child.stdout.on('data', (chunk: Buffer) => frames.push(chunk));
    child.stderr.on('data', (text: Buffer) => log.warn({ text: text.toString() }, 'launcher wrote to stderr'));
    const input = takeInput(child);
    input.on('error', () => undefined);
    child.on('error', (error) => log.error({ error }, 'could not start the launcher'));
    child.once('close', (exitCode, signal) => {
      this.#child = undefined;
      this.#input = undefined;
      input.destroy();
      rmSync(pipes, { recursive: true, force: true });
      const emptied = group === undefined ? undefined : endControlGroup(group);
      if (this.#closing && this.#running.size === 0) return;
      log.error({ exit_code: exitCode, signal, commands: this.#running.size }, 'launcher died');
      // A crash may be due to `node:ffi`. In a namespace, the exit code of a killed launcher is that of a shell.
      const isKilled = signal === 'SIGKILL' || exitCode === KILLED;
      if (!isKilled) this.#starter = 'node';
      const young = monotonicMs() - startedAt < YOUNG_MS;
      void this.#afterDeath({ young, emptied, signal: isKilled ? 'SIGKILL' : null });
    });
    this.#child = child;
    this.#input = input;
    this.setGone(this.#gone);
    if (this.#deadline === undefined) return;
    const { message, at } = this.#deadline;
    const passedMs = startedAt - at;
    this.setDeadline({ stopInMs: message.stopInMs - passedMs, killInMs: message.killInMs - passedMs });
  }

  /** Reports the commands as ended once they are known to be gone, after a pause if the launcher dies repeatedly. */
  async #afterDeath({ young, emptied, signal }: Death): Promise<void> {
    const orphans = [...this.#running.values()];
    this.#running.clear();
    const { log } = this.#options;
    this.#unswept += 1;
    try {
      await emptied;
      await sweepOrphans(log, this.#options.isolation.user);
      this.#unswept -= 1;
      this.setGone(this.#gone);
    } catch (error) {
      log.error({ error }, 'could not sweep what the launcher left');
    }
    if (young) await sleep(PAUSE_MS);
    for (const listener of orphans) {
      listener.onExit({ exitCode: null, signal, usage: null, stopped: 'launcher', startError: null, left: 0 });
    }
  }

  /** Frames sent in one turn of the event loop are written together. */
  #send(frame: Buffer): void {
    const input = this.#input;
    if (input === undefined) return;
    if (input.writableCorked === 0) {
      input.cork();
      process.nextTick(() => input.uncork());
    }
    input.write(frame);
  }

  #receive(kind: number, id: number, payload: Buffer): void {
    const listener = this.#running.get(id);
    if (listener === undefined) return;
    if (kind === FRAME.output) return listener.onOutput(payload);
    if (kind !== FRAME.exit) return;
    this.#running.delete(id);
    listener.onExit(JSON.parse(payload.toString()) as ExitMessage);
  }
}

/**
 * Takes the input from the child, which would close it when the process that was started ends. In a PID namespace, that is the
 * process around the launcher: for the moments until the kernel has killed it too, the launcher would see the end of its
 * input, take its worker for dead, and report that.
 */
function takeInput(child: ChildProcess): Socket {
  const input = child.stdin as Socket;
  child.stdin = null;
  return input;
}

/**
 * Variables for the launcher, but not for its commands: with this process's compile cache it starts in a third of the time,
 * and it trusts the same certificates.
 */
function ownVariables(): Record<string, string> {
  const own: Record<string, string> = {};
  for (const name of LAUNCHER_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) own[name] = value;
  }
  return own;
}
