/** One command: a shell that leads its own session, and the pipe for all its output. */

import { closeSync } from 'node:fs';
import type { Usage } from '../../core/outcome.ts';
import type { Root } from './forest.ts';
import { type ExitMessage, OUTPUT_WINDOW_BYTES, type StartMessage } from './frames.ts';
import type { OutputPipe, OutputPipes } from './output-pipes.ts';
import { OutputReader } from './output-reader.ts';
import type { ShellExit, ShellStarter } from './shell-starter.ts';

interface TreeEvents {
  onOutput: (data: Buffer) => void;
  /** The shell runs, or may run. */
  onStart: () => void;
  /** There is no shell, and nothing of the tree is left. */
  onRefused: (reason: string) => void;
  /** The shell has ended, or is lost; other processes of the tree may be alive. */
  onExit: () => void;
  /** All output has been read after `finish`. */
  onDrained: () => void;
}

interface TreeOptions {
  id: number;
  mark: string;
  message: StartMessage;
  env: Readonly<Record<string, string | undefined>>;
  starter: ShellStarter;
  pipes: OutputPipes;
  events: TreeEvents;
}

export class Tree implements Root {
  readonly id: number;
  pid: number | undefined;
  readonly mark: string;
  readonly graceMs: number;
  /** True if the command may run on after the deadline. */
  readonly finishes: boolean;
  exited = false;
  exitCode: number | null = null;
  signal: string | null = null;
  usage: Usage | null = null;
  stopped: ExitMessage['stopped'] = null;
  /** When to kill what is left; `undefined` while the tree need not end. */
  killAt: number | undefined;
  /** Processes that were sent SIGTERM. */
  readonly asked = new Set<number>();
  readonly #options: TreeOptions;
  #reader: OutputReader | undefined;
  #drained = false;
  #finishing = false;

  constructor(options: TreeOptions) {
    this.#options = options;
    this.id = options.id;
    this.mark = options.mark;
    this.graceMs = options.message.graceMs;
    this.finishes = options.message.finish;
  }

  /** Throws if it is known at once that the command cannot be started. */
  start(): void {
    const { message, env, starter, pipes, events } = this.#options;
    const { command, cwd } = message;
    const pipe = pipes.open();
    const close = () => {
      closeSync(pipe.readFd);
      closeSync(pipe.writeFd);
      pipes.giveBack(pipe.path, true);
    };
    try {
      starter.start(
        { id: this.id, command, cwd, env, output: pipe },
        {
          onStart: (pid) => this.#begin(pipe, pid),
          onRefused: (reason) => {
            close();
            events.onRefused(reason);
          },
          onExit: (exit) => this.#exit(exit),
          onLost: () => {
            if (this.#reader === undefined) this.#begin(pipe, undefined);
            this.stopped ??= 'launcher';
            this.#exit({ exitCode: null, signal: 'SIGKILL', usage: null });
          },
        },
      );
    } catch (error) {
      close();
      throw error;
    }
  }

  /** True while it is not known whether there is a shell. */
  get starting(): boolean {
    return this.pid === undefined && !this.exited;
  }

  addCredit(bytes: number): void {
    this.#reader?.addCredit(bytes);
  }

  /** Reads the rest of the output. No process of the tree is left. */
  finish(): void {
    this.#finishing = true;
    if (this.#drained) this.#options.events.onDrained();
    else this.#reader?.finish();
  }

  #begin(pipe: OutputPipe, pid: number | undefined): void {
    const { pipes, events } = this.#options;
    this.pid = pid;
    closeSync(pipe.writeFd);
    this.#reader = new OutputReader(pipe.readFd, OUTPUT_WINDOW_BYTES, {
      onData: events.onOutput,
      onEnd: (clean) => {
        pipes.giveBack(pipe.path, clean);
        this.#drained = true;
        if (this.#finishing) events.onDrained();
      },
    });
    events.onStart();
  }

  #exit({ exitCode, signal, usage }: ShellExit): void {
    this.exited = true;
    this.exitCode = exitCode;
    this.signal = signal;
    this.usage = usage;
    this.#options.events.onExit();
  }
}
