/** The worker's side of its launcher: starts it, speaks to it, and replaces it if it dies. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../ops/log.ts';
import { passedOn } from '../command/environment.ts';
import { monotonicMs } from '../time/monotonic.ts';
import {
  type DeadlineMessage,
  type ExitMessage,
  encodeFrame,
  encodeMessage,
  FRAME,
  FrameReader,
  type StartMessage,
} from './frames.ts';
import { canEnclose, enclose } from './namespace.ts';
import { identityOf, LAUNCHER_MARK } from './process-table.ts';
import { sweepOrphans } from './sweep.ts';

/** The same file as written (`.ts`) and as published (`.js`). */
const ENTRY = fileURLToPath(new URL(`./main${extname(import.meta.url)}`, import.meta.url));
const HEAP_MB = 64;
/** A launcher that died sooner than this is not started again at once. */
const YOUNG_MS = 5_000;
const PAUSE_MS = 2_000;

export const PID_NAMESPACE = ['auto', 'off'] as const;
export const STARTERS = ['auto', 'node'] as const;

export interface LauncherOptions {
  pidNamespace: (typeof PID_NAMESPACE)[number];
  /** `auto`: the cheapest way to start a shell that this Node offers. */
  starter?: (typeof STARTERS)[number];
  /** For its pipes. */
  folder: string;
  /** All that commands get besides their own. */
  env: Readonly<Record<string, string>>;
  log: Log;
}

export interface CommandExit extends Omit<ExitMessage, 'stopped'> {
  /** `launcher`: it died, and its commands with it. */
  stopped: ExitMessage['stopped'] | 'launcher';
}

export interface CommandListener {
  /** The bytes are only lent. Each must be answered by `credit` before more than a window follows. */
  onOutput(data: Buffer): void;
  /** Nothing of the command is left. Called once, after all output. */
  onExit(exit: CommandExit): void;
}

export class Launcher implements AsyncDisposable {
  readonly #options: LauncherOptions;
  readonly #running = new Map<number, CommandListener>();
  #enclosed = false;
  #child: ChildProcess | undefined;
  #input: Socket | undefined;
  #deadline: { message: DeadlineMessage; at: number } | undefined;
  #starter: (typeof STARTERS)[number];
  #nextId = 1;
  #closing = false;

  constructor(options: LauncherOptions) {
    this.#options = options;
    this.#starter = options.starter ?? 'auto';
  }

  /** Of the process that the worker started; `undefined` while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Whether commands run in a PID namespace of their own. */
  get enclosed(): boolean {
    return this.#enclosed;
  }

  async open(): Promise<void> {
    this.#enclosed = this.#options.pidNamespace === 'auto' && (await canEnclose());
    this.#start();
  }

  /** Answers with the command's number. */
  run(message: StartMessage, listener: CommandListener): number {
    const id = this.#nextId++;
    if (this.#child === undefined) this.#start();
    this.#running.set(id, listener);
    this.#send(encodeMessage(FRAME.start, id, message));
    return id;
  }

  stop(id: number, graceMs: number): void {
    if (this.#running.has(id)) this.#send(encodeMessage(FRAME.stop, id, { graceMs }));
  }

  /** So many bytes of its output have been dealt with. */
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

  /** Stops what still runs and ends the launcher. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.#input?.end();
    await ended;
  }

  #start(): void {
    const { folder, env, log } = this.#options;
    const pipes = mkdtempSync(join(folder, 'pipes-'));
    const flags = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning'];
    const place = this.#enclosed ? 'enclosed' : 'open';
    const node = [process.execPath, ...flags, ENTRY, pipes, place, this.#starter];
    const [command, ...args] = this.#enclosed ? enclose(node) : node;
    const child = spawn(command as string, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      // Away from the terminal: Ctrl-C is for the worker, which knows what to do.
      detached: true,
      env: { ...env, ...compileCache(), [LAUNCHER_MARK]: identityOf(process.pid) },
    });
    const startedAt = monotonicMs();
    const frames = new FrameReader((kind, id, payload) => this.#receive(kind, id, payload));
    child.stdout.on('data', (chunk: Buffer) => frames.push(chunk));
    child.stderr.on('data', (text: Buffer) => log.warn({ text: text.toString() }, 'the launcher complains'));
    child.stdin.on('error', () => undefined);
    child.on('error', (error) => log.error({ error }, 'the launcher could not be started'));
    child.once('close', (exitCode, signal) => {
      this.#child = undefined;
      this.#input = undefined;
      rmSync(pipes, { recursive: true, force: true });
      if (this.#closing && this.#running.size === 0) return;
      log.error({ exit_code: exitCode, signal, commands: this.#running.size }, 'the launcher died');
      // Whatever it died of, the next one takes no risks.
      this.#starter = 'node';
      void this.#afterDeath(monotonicMs() - startedAt < YOUNG_MS);
    });
    this.#child = child;
    this.#input = child.stdin as Socket;
    if (this.#deadline === undefined) return;
    const { message, at } = this.#deadline;
    const passedMs = startedAt - at;
    this.setDeadline({ stopInMs: message.stopInMs - passedMs, killInMs: message.killInMs - passedMs });
  }

  /** Its commands are reported only when they are known to be gone, and not in a tight circle. */
  async #afterDeath(young: boolean): Promise<void> {
    const orphans = [...this.#running.values()];
    this.#running.clear();
    const { log } = this.#options;
    await sweepOrphans(log).catch((error: unknown) => log.error({ error }, 'what it left could not be swept'));
    if (young) await sleep(PAUSE_MS);
    for (const listener of orphans) {
      listener.onExit({ exitCode: null, signal: null, stopped: 'launcher', startError: null, left: 0 });
    }
  }

  /** What is said in one turn of the event loop goes together. */
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
    listener.onExit(JSON.parse(payload.toString()) as CommandExit);
  }
}

/** Opens a launcher after ending what an earlier one on this machine left behind. */
export async function openLauncher(options: Omit<LauncherOptions, 'env'>): Promise<Launcher> {
  const launcher = new Launcher({ ...options, env: passedOn(process.env) });
  await sweepOrphans(options.log);
  await launcher.open();
  return launcher;
}

/** Where this process keeps compiled code: the launcher starts in a third of the time with it. */
function compileCache(): Record<string, string> {
  const { NODE_COMPILE_CACHE: folder } = process.env;
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}
