/** RetryBackoff with a server that restarts while somebody waits for a job. */

import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';

const PATIENCE_MS = 60_000;
const PAUSE_MS = 500;

/** Repeats `action` while the server cannot be reached, for a minute after it last could. A server that was never there is not waited for. */
export class Persistence {
  #lastContact: number | null = null;

  async call<T>(action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      try {
        const answer = await action();
        this.contact();
        return answer;
      } catch (error) {
        if (!this.#worthAnother(error)) throw error;
        await sleep(PAUSE_MS, undefined, signal === undefined ? {} : { signal });
      }
    }
  }

  /** The server was just heard. */
  contact(): void {
    this.#lastContact = performance.now();
  }

  #worthAnother(error: unknown): boolean {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) return false;
    return this.#lastContact !== null && performance.now() - this.#lastContact < PATIENCE_MS;
  }
}
