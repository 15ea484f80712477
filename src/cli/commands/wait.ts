import type { Command } from 'commander';
import type { Job } from '../../api/job.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, outputOf, print, printJson } from '../client-command.ts';
import { EXIT, exitCodeOf } from '../errors/exit-code.ts';
import { ownFailure } from '../errors/failure.ts';
import { durationFlag } from '../flags/values.ts';
import { waitForEnd } from '../follow/wait-for-end.ts';
import { stateText } from '../output/style.ts';

/** `workron wait ID…`: waits until all have ended. Exits with the code of the first job, in the given order, that is not done. */
export function waitCommand(): Command {
  const command = clientCommand('wait', "Wait until jobs have ended; exit with the job's code")
    .argument('<id...>', 'Job ids')
    .option('--timeout <DURATION>', 'Give up after this time, with code 124', durationFlag);
  return command.action((texts: string[], options: { timeout?: number }) =>
    ownFailure(async () => {
      const ids = texts.map(jobId);
      const connection = connect(command);
      const jobs = await Promise.all(ids.map((id) => waitForEnd(connection, id, { timeoutMs: options.timeout })));
      show(jobs, outputOf(command));
      process.exitCode =
        jobs.map((job) => (isTerminal(job.status) ? exitCodeOf(job) : EXIT.timeout)).find((code) => code !== EXIT.ok) ??
        EXIT.ok;
    }),
  );
}

function show(jobs: readonly Job[], { json, quiet }: ReturnType<typeof outputOf>): void {
  if (json) return printJson(jobs);
  for (const job of jobs)
    print(quiet ? job.id : `job ${job.id} ${stateText(job.status)}${job.reason === null ? '' : ` (${job.reason})`}`);
}
