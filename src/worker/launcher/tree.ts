/** One command: a shell that leads its own session, and the pipe for all its output. */

import { closeSync } from 'node:fs';
import type { Usage } from '../../core/outcome.ts';
import type { Root } from './forest.ts';
import { type ExitMessage, OUTPUT_WINDOW_BYTES, type StartMessage } from './frames.ts';
import type { OutputPipes } from './output-pipes.ts';
import { OutputReader } from './output-reader.ts';
import type { ShellStarter } from './shell-starter.ts';

interface TreeEvents {
  onOutput: (data: Buffer) => void;
  /** The shell has ended; other processes of the tree may be alive. */
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
  readonly pid: number;
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
  readonly #reader: OutputReader;
  readonly #onDrained: () => void;
  #drained = false;
  #finishing = false;

  /** Throws if the command cannot be started. */
  constructor({ id, mark, message, env, starter, pipes, events }: TreeOptions) {
    this.id = id;
    this.mark = mark;
    this.graceMs = message.graceMs;
    this.finishes = message.finish;
    this.#onDrained = events.onDrained;
    const pipe = pipes.open();
    try {
      const { command, cwd } = message;
      this.pid = starter.start({ command, cwd, env, outputFd: pipe.writeFd }, ({ exitCode, signal, usage }) => {
        this.exited = true;
        this.exitCode = exitCode;
        this.signal = signal;
        this.usage = usage;
        events.onExit();
      });
    } catch (error) {
      closeSync(pipe.readFd);
      pipes.giveBack(pipe.path, true);
      throw error;
    } finally {
      closeSync(pipe.writeFd);
    }
    this.#reader = new OutputReader(pipe.readFd, OUTPUT_WINDOW_BYTES, {
      onData: events.onOutput,
      onEnd: (clean) => {
        pipes.giveBack(pipe.path, clean);
        this.#drained = true;
        if (this.#finishing) events.onDrained();
      },
    });
  }

  addCredit(bytes: number): void {
    this.#reader.addCredit(bytes);
  }

  /** Reads the rest of the output. No process of the tree is left. */
  finish(): void {
    this.#finishing = true;
    if (this.#drained) this.#onDrained();
    else this.#reader.finish();
  }
}
