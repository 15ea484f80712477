/** Shows what a job does while it is followed: a line that changes on a terminal, a note at every tenth part in a pipe. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { JobDetail } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { isTerminal, isWaiting } from '../../core/job.ts';
import type { Connection } from '../connection.ts';
import { note } from '../errors/report.ts';
import { progressText } from '../output/job.ts';
import { StatusLine } from '../output/status-line.ts';
import { oneLine } from '../output/style.ts';
import { waitsFor } from '../output/when.ts';

const TERMINAL_MS = 1_000;
const PIPE_MS = 5_000;

interface Shown {
  line: StatusLine;
  signal: AbortSignal;
  /** Also says what a job waits for. */
  waiting?: boolean;
}

/** Shows the progress of a job during `action`, which gets the line that it is on. */
export async function withProgress<T>(
  connection: Connection,
  id: string,
  action: (line: StatusLine) => Promise<T>,
): Promise<T> {
  using line = new StatusLine('');
  const ended = new AbortController();
  void showProgress(connection, id, { line, signal: ended.signal });
  try {
    return await action(line);
  } finally {
    ended.abort();
  }
}

/** Returns once the job has ended, or `signal` aborts. Never rejects: this is only for information. */
export async function showProgress(connection: Connection, id: string, shown: Shown): Promise<void> {
  const { line, signal, waiting = false } = shown;
  let told = 0;
  try {
    for (;;) {
      await sleep(process.stderr.isTTY ? TERMINAL_MS : PIPE_MS, undefined, { signal });
      const job = await connection.json(routes.readJob, { params: { id }, signal });
      if (isTerminal(job.status)) return;
      line.show(lineOf(job, waiting));
      const tenths = Math.floor((job.progress?.fraction ?? 0) * 10);
      if (!process.stderr.isTTY && job.progress !== null && tenths > told) {
        note(`job ${id}: ${progressText(job.progress)}`);
        told = tenths;
      }
    }
  } catch {
    // Whoever follows the job reports an unreachable server.
  }
}

/** Empty if there is nothing to say. */
function lineOf({ id, status, progress, waiting: wait }: JobDetail, waiting: boolean): string {
  if (status === 'running' && progress !== null) return `job ${id} ${progressText(progress)}`;
  if (!waiting) return '';
  return `job ${id} ${status}${wait === null ? '' : `: waits for ${waitsFor(wait)}`}`;
}

/** Most jobs have started by then. */
const FIRST_MS = 1_000;
const AGAIN_MS = 5_000;

/** Returns once the job has started, or `signal` aborts. Never rejects: this is only for information. */
export async function tellWaiting(connection: Connection, id: string, signal: AbortSignal): Promise<void> {
  let told: string | null = null;
  try {
    for (let pauseMs = FIRST_MS; ; pauseMs = AGAIN_MS) {
      await sleep(pauseMs, undefined, { signal });
      const job = await connection.json(routes.readJob, { params: { id }, signal });
      if (!isWaiting(job.status)) return;
      const sentence = job.waiting === null ? null : oneLine(waitsFor(job.waiting));
      if (sentence !== null && sentence !== told) note(`job ${id} waits for ${sentence}`);
      told = sentence;
    }
  } catch {
    // Whoever follows the job reports an unreachable server.
  }
}
