/** Waits for a job by long polls, through restarts of the server. */

import type { Job } from '../api/job.ts';
import { routes } from '../api/routes.ts';
import type { Connection } from './connection.ts';
import { isEnded } from './ended.ts';
import { Persistence } from './persist.ts';

const POLL_MS = 20_000;
/** How much later than asked an answer may come before the connection is taken for dead. */
const SLACK_MS = 15_000;

export interface WaitOptions {
  timeoutMs?: number | undefined;
  signal?: AbortSignal;
}

/** The job once it has ended, or as it is when `timeoutMs` have passed. */
export async function waitForEnd(connection: Connection, id: string, options: WaitOptions = {}): Promise<Job> {
  const { timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
  const deadline = performance.now() + timeoutMs;
  const persistence = new Persistence();
  // The first look does not wait, so that a server which is there is told from one that never was.
  for (let longestMs = 0; ; longestMs = POLL_MS) {
    const pollMs = Math.max(0, Math.min(longestMs, Math.ceil(deadline - performance.now())));
    const job = await persistence.call(() => poll(connection, id, pollMs, signal), signal);
    if (isEnded(job) || performance.now() >= deadline) return job;
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
