import type { Command } from 'commander';
import type { SubmittedJob } from '../../api/job.ts';
import { routes } from '../../api/routes.ts';
import { ON_MEMBER_FAILURE, SPREADS } from '../../core/gang.ts';
import { clientCommand, connect, type Output, outputOf, print, printData } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { addJobFlags } from '../flags/job.ts';
import { durationFlag, integerFlag, oneOfFlag } from '../flags/values.ts';
import { refuseLoneInput, workFrom } from '../flags/work.ts';
import { nameOfInput, readInput } from '../input/file.ts';

/** `workron submit -- CMD…`: one job from the command line, or many from a file. */
export function submitCommand(): Command {
  const command = clientCommand('submit', 'Submit a job and print its id')
    .usage("[flags] -- COMMAND [ARGUMENT…]   or   -- 'SHELL LINE'")
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined')
    .option('-f, --file <FILE>', 'Submit the jobs of this file instead: JSON, one job or an array; - is stdin')
    .option('--gang <SIZE>', 'Submit a gang of SIZE jobs: all start, or none', integerFlag)
    .option('--gang-min <COUNT>', 'Start with fewer than SIZE if not all fit, at least with COUNT', integerFlag)
    .option('--gang-spread <HOW>', 'pack, spread or same-worker (default: pack)', oneOfFlag(SPREADS))
    .option(
      '--on-member-failure <WHAT>',
      'restart: stop the others, and start all again; fail: cancel them; or continue (default: restart)',
      oneOfFlag(ON_MEMBER_FAILURE),
    )
    .option(
      '--gang-timeout <DURATION>',
      'Time to get all places, before they are chosen again (default: 10m)',
      durationFlag,
    )
    .option('--fail-fast', 'Refuse a gang that all online workers together could not hold')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key submits nothing new');
  return addJobFlags(command).action(async (words: string[], options: SubmitOptions) => {
    const job = workFrom(command, words);
    refuseLoneInput(job);
    const isJob = job['command'] !== undefined || job['handler'] !== undefined;
    if ((options.file !== undefined) === isJob) {
      throw usageError('expected a command after --, --handler or --file', "workron submit -- 'echo hello'");
    }
    const gang = gangFrom(options);
    if (gang !== undefined) job['gang'] = gang;
    const body = options.file === undefined ? job : await jobsFromFile(options.file);
    const headers = options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey };
    const answer = await connect(command).json(routes.submitJobs, { body, headers });
    show('items' in answer ? answer.items : [answer], answer, outputOf(command));
  });
}

interface SubmitOptions {
  file?: string;
  gang?: number;
  gangMin?: number;
  gangSpread?: (typeof SPREADS)[number];
  onMemberFailure?: (typeof ON_MEMBER_FAILURE)[number];
  gangTimeout?: string;
  failFast?: boolean;
  idempotencyKey?: string;
}

function gangFrom({ file, gang: size, gangMin, gangSpread, onMemberFailure, gangTimeout, failFast }: SubmitOptions) {
  const rules = {
    min: gangMin,
    spread: gangSpread,
    on_member_failure: onMemberFailure,
    timeout: gangTimeout,
    fail_fast: failFast,
  };
  const given = Object.entries(rules).filter(([, value]) => value !== undefined);
  if (size === undefined && given.length > 0) throw usageError('expected --gang with its rules', '--gang 4');
  if (size !== undefined && file !== undefined) throw usageError('a file says by itself which jobs are gangs');
  return size === undefined ? undefined : { size, ...Object.fromEntries(given) };
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
