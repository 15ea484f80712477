import type { Command } from 'commander';
import type { Job, SubmittedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, outputOf, printData } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { EXIT, exitCodeOf } from '../errors/exit-code.ts';
import { ownFailure } from '../errors/failure.ts';
import { note } from '../errors/report.ts';
import { addJobFlags } from '../flags/job.ts';
import { refuseLoneInput, workFrom } from '../flags/work.ts';
import { detachOnInterrupt } from '../follow/detach.ts';
import { followLog } from '../follow/log.ts';
import { withProgress } from '../follow/progress.ts';
import { tellWaiting } from '../follow/tell-waiting.ts';
import { waitForEnd } from '../follow/wait-for-end.ts';
import { readStandardInput } from '../input/standard-input.ts';
import type { StatusLine } from '../output/status-line.ts';
import { oneLine } from '../output/style.ts';

/** `workron run -- CMD…`: submits a job, prints its output and exits with its code. */
export function runCommand(): Command {
  const command = clientCommand('run', 'Run a job once, stream its output and return its exit code')
    .usage("[flags] -- COMMAND [ARGUMENT…]   or   -- 'SHELL LINE'")
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined');
  return addJobFlags(command).action((words: string[]) =>
    ownFailure(async () => {
      const job = workFrom(command, words);
      refuseLoneInput(job);
      if (job['command'] === undefined && job['handler'] === undefined) {
        throw usageError('expected a command after --, or --handler', "workron run -- 'echo hello'");
      }
      const connection = connect(command);
      const input = job['command'] === undefined ? undefined : await readStandardInput();
      const body = { max_attempts: 1, ...job, ...(input === undefined ? {} : { input }) };
      const { id } = (await connection.json(routes.submitJobs, { body })) as SubmittedJob;
      const { json, quiet } = outputOf(command);
      if (!quiet && !json) note(`job ${id}`);
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
    }),
  );
}

/** Why it failed, or why it ended without an error. */
function whyNotDone({ failure, reason }: Job): string {
  return failure === null ? (reason ?? 'for no known reason') : oneLine(failure.line);
}
