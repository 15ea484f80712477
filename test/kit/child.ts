/** Child processes whose output is read line by line. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endOnExit } from './end-on-exit.ts';

export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #lines: AsyncIterator<string>;

  constructor(command: string, args: readonly string[]) {
    this.#process = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    endOnExit('process', this.#process);
    this.#exit = once(this.#process, 'close');
    this.#lines = createInterface({ input: this.#process.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  }

  static script(path: URL, ...args: string[]): Child {
    return new Child(process.execPath, [path.pathname, ...args]);
  }

  /** Resolves with the next printed line; `undefined` after its end. */
  async line(): Promise<string | undefined> {
    const next = await this.#lines.next();
    return next.done === true ? undefined : next.value;
  }

  /** Kills it with SIGKILL and waits for its end; returns the printed lines that were not read yet. */
  async kill(): Promise<string[]> {
    this.#process.kill('SIGKILL');
    const rest: string[] = [];
    for (let line = await this.line(); line !== undefined; line = await this.line()) rest.push(line);
    await this.#exit;
    return rest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill('SIGKILL');
    await this.#exit;
  }
}
