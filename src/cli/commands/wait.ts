import type { Command } from 'commander';
import type { Job } from '../../api/job.ts';
import { reasonText } from '../../api/words/reason.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { EXIT, exitCodeOf } from '../errors/exit-code.ts';
import { ownFailure } from '../errors/failure.ts';
import { durationFlag } from '../flags/values.ts';
import { showProgress } from '../follow/progress.ts';
import { waitForEnd } from '../follow/wait-for-end.ts';
import { StatusLine } from '../output/status-line.ts';
import { oneLine, stateText } from '../output/style.ts';

/** `workron wait ID…`: waits until all have ended. Exits with the code of the first job, in the given order, that is not done. */
export function waitCommand(): Command {
  const command = clientCommand('wait', "Wait until jobs have ended; exit with the job's code")
    .argument('<id...>', 'Job ids')
    .option('--timeout <DURATION>', 'Give up after this time, with code 124', durationFlag);
  return command.action((texts: string[], options: { timeout?: number }) =>
    ownFailure(async () => {
      const ids = texts.map(jobId);
      const connection = connect(command);
      const output = outputOf(command);
      const jobs = await waitForAll(connection, ids, { timeoutMs: options.timeout, silent: output.quiet });
      show(jobs, output);
      process.exitCode =
        jobs.map((job) => (isTerminal(job.status) ? exitCodeOf(job) : EXIT.timeout)).find((code) => code !== EXIT.ok) ??
        EXIT.ok;
    }),
  );
}

interface WaitOptions {
  timeoutMs: number | undefined;
  silent: boolean;
}

/** Shows on a terminal what it waits for. */
async function waitForAll(connection: Connection, ids: readonly string[], options: WaitOptions): Promise<Job[]> {
  const { timeoutMs, silent } = options;
  using line = new StatusLine(silent ? '' : `waiting for ${ids.length === 1 ? `job ${ids[0]}` : `${ids.length} jobs`}`);
  const ended = new AbortController();
  if (!silent && process.stderr.isTTY && ids.length === 1)
    void showProgress(connection, ids[0] as string, { line, signal: ended.signal, waiting: true });
  let open = ids.length;
  const wait = async (id: string): Promise<Job> => {
    const job = await waitForEnd(connection, id, { timeoutMs });
    open -= 1;
    if (!silent && ids.length > 1) line.show(`waiting for ${open} of ${ids.length} jobs`);
    return job;
  };
  try {
    return await Promise.all(ids.map(wait));
  } finally {
    ended.abort();
  }
}

function show(jobs: readonly Job[], { json, quiet }: ReturnType<typeof outputOf>): void {
  if (json) return printData(jobs, json);
  for (const job of jobs) print(quiet ? job.id : `job ${job.id} ${stateText(job.status)}${whyText(job)}`);
}

/** `: ` and why it failed, else the reason of its end in brackets. */
function whyText({ status, failure, reason }: Job): string {
  if (status === 'failed' && failure !== null) return `: ${oneLine(failure.line)}`;
  return reason === null || reason === status ? '' : ` (${reasonText(reason)})`;
}
