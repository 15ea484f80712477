import type { Command } from 'commander';
import type { Job, SubmittedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, outputOf, printJson } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { EXIT, exitCodeOf } from '../errors/exit-code.ts';
import { ownFailure } from '../errors/failure.ts';
import { note } from '../errors/report.ts';
import { addJobFlags, commandOf, jobFrom } from '../flags/job.ts';
import { detachOnInterrupt } from '../follow/detach.ts';
import { followLog } from '../follow/log.ts';
import { waitForEnd } from '../follow/wait-for-end.ts';

/** `workron run -- CMD…`: submits a job, prints its output and exits with its code. */
export function runCommand(): Command {
  const command = clientCommand('run', 'Submit a job with one attempt, follow its output, exit with its code')
    .usage("[flags] -- COMMAND [ARGUMENT…]   or   -- 'SHELL LINE'")
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined');
  return addJobFlags(command).action((words: string[]) =>
    ownFailure(async () => {
      if (words.length === 0) throw usageError('expected a command after --', "workron run -- 'echo hello'");
      const connection = connect(command);
      const body = { max_attempts: 1, ...jobFrom(command), command: commandOf(words) };
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
      const followed = async (): Promise<Job> => {
        if (!json) await followLog(connection, { id, signal: interrupt.signal });
        return waitForEnd(connection, id, { signal: interrupt.signal });
      };
      const job = await Promise.race([followed(), interrupt.left]);
      if (typeof job === 'number') {
        process.exitCode = job;
        return;
      }
      if (json) printJson(job);
      else if (job.status !== 'done' && !quiet)
        note(`job ${id} ${job.status}${job.reason === null ? '' : ` (${job.reason})`}`);
      process.exitCode = interrupt.cancelled ? EXIT.interrupted : exitCodeOf(job);
    }),
  );
}
