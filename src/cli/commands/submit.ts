/** Commands that submit a job or wait for one. */

import type { Command } from 'commander';
import type { Job, SubmittedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { reasonText } from '../../api/words/reason.ts';
import { isTerminal } from '../../core/job.ts';
import { clientCommand, connect, jobId, type Output, outputOf, print, printData } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { EXIT, exitCodeOf, usageError } from '../errors/cli-error.ts';
import { ownFailure } from '../errors/failure.ts';
import { note } from '../errors/report.ts';
import { addGangFlags, addJobFlags, refuseLoneInput, workFrom } from '../flags/job.ts';
import { durationFlag } from '../flags/values.ts';
import { followJob } from '../follow/job.ts';
import { showProgress } from '../follow/progress.ts';
import { waitForEnd } from '../follow/wait.ts';
import { nameOfInput, readInput, readStandardInput } from '../input/file.ts';
import { StatusLine } from '../output/status-line.ts';
import { oneLine, stateText } from '../output/style.ts';

/** `workron submit -- CMD…`: one job from the command line, or many from a file. */
export function submitCommand(): Command {
  const command = clientCommand('submit', 'Submit a job and print its id')
    .usage("[flags] -- COMMAND [ARGUMENT…]   or   -- 'SHELL LINE'")
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined')
    .option('-f, --file <FILE>', 'Submit the jobs of this file instead: JSON, one job or an array; - is stdin')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key submits nothing new');
  return addGangFlags(addJobFlags(command)).action(async (words: string[], options: SubmitOptions) => {
    const job = workFrom(command, words);
    refuseLoneInput(job);
    const isJob = job['command'] !== undefined || job['handler'] !== undefined;
    if ((options.file !== undefined) === isJob) {
      throw usageError('expected a command after --, --handler or --file', "workron submit -- 'echo hello'");
    }
    if (job['gang'] !== undefined && options.file !== undefined)
      throw usageError('a file says by itself which jobs are gangs');
    const body = options.file === undefined ? job : await jobsFromFile(options.file);
    const headers = options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
    const answer = await connect(command).json(routes.submitJobs, { body, headers });
    showSubmitted('items' in answer ? answer.items : [answer], answer, outputOf(command));
  });
}

interface SubmitOptions {
  file?: string;
  idempotencyKey?: string;
}

function showSubmitted(jobs: readonly SubmittedJob[], answer: unknown, output: Output): void {
  if (output.json) return printData('items' in (answer as object) ? jobs : answer, output.json);
  if (output.quiet) return print(jobs.map((job) => job.id).join('\n'));
  for (const job of jobs) {
    print(job.deduplicated ? `already there: job ${job.id} (${job.status})` : `submitted job ${job.id}`);
  }
  const [first] = jobs;
  if (jobs.length === 1 && first !== undefined && process.stdout.isTTY) note(`follow it: workron logs -f ${first.id}`);
}

/** Reads a JSON object, an array, or one object a line. The server checks the jobs. */
async function jobsFromFile(path: string): Promise<unknown> {
  const content = new TextDecoder().decode(await readInput(path));
  if (content.trim() === '') throw usageError(`${nameOfInput(path)} is empty`);
  try {
    return JSON.parse(content) as unknown;
  } catch (error) {
    const lines = content.split('\n').filter((line) => line.trim() !== '');
    if (lines.length > 1 && lines[0]?.trimEnd().endsWith('}'))
      return lines.map((line, index) => parseLine(path, line, index));
    throw usageError(`${nameOfInput(path)} is not JSON: ${(error as Error).message}`);
  }
}

function parseLine(path: string, line: string, index: number): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch (error) {
    throw usageError(`${nameOfInput(path)}, line ${index + 1}: ${(error as Error).message}`);
  }
}

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
      await followJob(connection, id, outputOf(command));
    }),
  );
}

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
      showEnded(jobs, output);
      process.exitCode =
        jobs.map((job) => (isTerminal(job.status) ? exitCodeOf(job) : EXIT.timeout)).find((code) => code !== EXIT.ok) ??
        EXIT.ok;
    }),
  );
}

interface Waiting {
  timeoutMs: number | undefined;
  silent: boolean;
}

/** Shows on a terminal what it waits for. */
async function waitForAll(connection: Connection, ids: readonly string[], options: Waiting): Promise<Job[]> {
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

function showEnded(jobs: readonly Job[], { json, quiet }: ReturnType<typeof outputOf>): void {
  if (json) return printData(jobs, json);
  for (const job of jobs) print(quiet ? job.id : `job ${job.id} ${stateText(job.status)}${whyText(job)}`);
}

/** `: ` and why it failed, else the reason of its end in brackets. */
function whyText({ status, failure, reason }: Job): string {
  if (status === 'failed' && failure !== null) return `: ${oneLine(failure.line)}`;
  return reason === null || reason === status ? '' : ` (${reasonText(reason)})`;
}
