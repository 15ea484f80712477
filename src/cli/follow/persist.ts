/** Retries while a server restarts. */

import { setTimeout as sleep } from 'node:timers/promises';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';

const GIVE_UP_MS = 60_000;
const PAUSE_MS = 500;

/** Retries a call while the server is unreachable, up to a minute after the last contact. Without any contact it fails at once. */
export class Persistence {
  #lastContact: number | null = null;

  async call<T>(action: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      try {
        const answer = await action();
        this.contact();
        return answer;
      } catch (error) {
        if (!this.#isRetryable(error)) throw error;
        await sleep(PAUSE_MS, undefined, signal === undefined ? {} : { signal });
      }
    }
  }

  /** Records contact with the server. */
  contact(): void {
    this.#lastContact = performance.now();
  }

  #isRetryable(error: unknown): boolean {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) return false;
    return this.#lastContact !== null && performance.now() - this.#lastContact < GIVE_UP_MS;
  }
}
