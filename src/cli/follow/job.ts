/** Follows a job to its end: prints its output and exits with its code. */

import type { Job } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { type Output, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { EXIT, exitCodeOf } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import type { StatusLine } from '../output/status-line.ts';
import { oneLine } from '../output/style.ts';
import { detachOnInterrupt } from './detach.ts';
import { followLog } from './log.ts';
import { tellWaiting, withProgress } from './progress.ts';
import { waitForEnd } from './wait.ts';

/** Ctrl-C leaves the job running; the exit code is set. */
export async function followJob(connection: Connection, id: string, { json, quiet }: Output): Promise<void> {
  using interrupt = detachOnInterrupt({
    title: `job ${id}`,
    again: `workron logs -f ${id}`,
    async cancel() {
      await connection.json(routes.cancelJob, { params: { id } });
      await waitForEnd(connection, id);
    },
  });
  const started = new AbortController();
  if (!quiet && !json) void tellWaiting(connection, id, AbortSignal.any([started.signal, interrupt.signal]));
  const followed = async (): Promise<Job> => {
    const follow = (line?: StatusLine) =>
      followLog(connection, { id, signal: interrupt.signal, ...(line && { line }) });
    if (!json) await (quiet ? follow() : withProgress(connection, id, follow));
    return waitForEnd(connection, id, { signal: interrupt.signal });
  };
  const ended = await Promise.race([followed(), interrupt.left]).finally(() => started.abort());
  if (typeof ended === 'number') {
    process.exitCode = ended;
    return;
  }
  if (json) printData(ended, json);
  else if (ended.status !== 'done' && !quiet) note(`job ${id} ${ended.status}: ${whyNotDone(ended)}`);
  process.exitCode = interrupt.cancelled ? EXIT.interrupted : exitCodeOf(ended);
}

/** Why it failed, or why it ended without an error. */
function whyNotDone({ failure, reason }: Job): string {
  return failure === null ? (reason ?? 'for no known reason') : oneLine(failure.line);
}
