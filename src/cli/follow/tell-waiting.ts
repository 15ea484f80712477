/** Prints what a job waits for while it has not started. */

import { setTimeout as sleep } from 'node:timers/promises';
import { routes } from '../../api/routes.ts';
import { isWaiting } from '../../core/job.ts';
import type { Connection } from '../connection.ts';
import { note } from '../errors/report.ts';
import { oneLine } from '../output/style.ts';
import { waitsFor } from '../output/when.ts';

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
