/** Waits for the end of a job by long polling. Survives restarts of the server. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { isTerminal } from '../../core/job.ts';
import type { Connection } from '../connection.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';

const POLL_MS = 20_000;
/** A poll that takes this much longer than asked is given up: the connection is dead. */
const SLACK_MS = 15_000;

interface WaitOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal;
}

/** Returns the job once it has ended, or as it is after `timeoutMs`. */
export async function waitForEnd(connection: Connection, id: string, options: WaitOptions = {}): Promise<Job> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
  const deadline = performance.now() + timeoutMs;
  const persistence = new Persistence();
  // The first poll does not wait, so that an unreachable server is reported at once.
  for (let longestMs = 0; ; longestMs = POLL_MS) {
    const pollMs = Math.max(0, Math.min(longestMs, Math.ceil(deadline - performance.now())));
    const job = await persistence.call(() => poll(connection, id, pollMs, signal), signal);
    if (isTerminal(job.status) || performance.now() >= deadline) return job;
  }
}

function poll(connection: Connection, id: string, pollMs: number, signal: AbortSignal | undefined): Promise<Job> {
  return connection.json(routes.waitJob, {
    params: { id },
    query: { timeout: `${pollMs}ms` },
    timeoutMs: pollMs + SLACK_MS,
    ...(signal === undefined ? {} : { signal }),
  });
}

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
