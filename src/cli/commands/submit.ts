import type { Command } from 'commander';
import type { SubmittedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, type Output, outputOf, print, printData } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { addJobFlags } from '../flags/job.ts';
import { refuseLoneInput, workFrom } from '../flags/work.ts';
import { nameOfInput, readInput } from '../input/file.ts';

/** `workron submit -- CMD…`: one job from the command line, or many from a file. */
export function submitCommand(): Command {
  const command = clientCommand('submit', 'Submit a job and print its id')
    .usage("[flags] -- COMMAND [ARGUMENT…]   or   -- 'SHELL LINE'")
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined')
    .option('-f, --file <FILE>', 'Submit the jobs of this file instead: JSON, one job or an array; - is stdin')
    .option('--idempotency-key <KEY>', 'Sending the same again with the same key submits nothing new');
  return addJobFlags(command).action(async (words: string[], options: SubmitOptions) => {
    const job = workFrom(command, words);
    refuseLoneInput(job);
    const isJob = job['command'] !== undefined || job['handler'] !== undefined;
    if ((options.file !== undefined) === isJob) {
      throw usageError('expected a command after --, --handler or --file', "workron submit -- 'echo hello'");
    }
    const body = options.file === undefined ? job : await jobsFromFile(options.file);
    const headers = options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
    const answer = await connect(command).json(routes.submitJobs, { body, headers });
    show('items' in answer ? answer.items : [answer], answer, outputOf(command));
  });
}

interface SubmitOptions {
  file?: string;
  idempotencyKey?: string;
}

function show(jobs: readonly SubmittedJob[], answer: unknown, output: Output): void {
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
