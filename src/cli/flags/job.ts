/**
 * The flags that describe a job, for `submit`, `run` and schedules. A flag has the name of its field in the API, in the
 * singular if it may be repeated; `--unique-while` is the field `while` of `unique`.
 */

import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { ON_MEMBER_FAILURE, SPREADS } from '../../core/gang.ts';
import { ON_DISCONNECT, RERUN } from '../../core/job.ts';
import { ON_LIMIT } from '../../core/meter.ts';
import { UNIQUE_CONFLICTS } from '../../core/unique.ts';
import { usageError } from '../errors/cli-error.ts';
import { commandOf } from '../input/shell-line.ts';
import {
  backoffFlag,
  collectAmounts,
  collectCodes,
  collectDependencies,
  collectLimits,
  collectList,
  collectNotify,
  collectRates,
  collectSecrets,
  collectVariables,
  durationFlag,
  instantFlag,
  integerFlag,
  jsonFlag,
  oneOfFlag,
} from './values.ts';

// biome-ignore lint/suspicious/noExplicitAny: a parser that collects takes what it has collected
type FlagRow = readonly [flags: string, about: string, parse?: (text: string, before: any) => unknown];

const WORK_FLAGS: readonly FlagRow[] = [
  ['--handler <NAME>', 'Run this handler instead of a command'],
  ['--input <JSON>', 'Input of the handler', jsonFlag],
  ['--seal-input', 'Encrypt the input in the store'],
  ['--queue <NAME>', 'Queue of the job (default: default)'],
  ['-p, --priority <NUMBER>', 'Higher runs first (default: 0)', integerFlag],
  ['--timeout <DURATION>', 'Stop an attempt after this time (default: 5m)', durationFlag],
  ['--start-timeout <DURATION>', 'Fail if it has not started by then', durationFlag],
  ['--kill-grace <DURATION>', 'From SIGTERM to SIGKILL (default: 10s)', durationFlag],
  ['--max-attempts <NUMBER>', 'Attempts in all (default: 3; run: 1)', integerFlag],
  ['--backoff <TYPE[:BASE[:CAP]]>', 'exponential, fixed or none, as fixed:30s', backoffFlag],
  ['--retry-on <CODE,…>', 'Retry only after these exit codes', collectCodes],
  ['--no-retry-on <CODE,…>', 'Never retry after these exit codes', collectCodes],
  ['--rerun <safe|never>', 'never: once started, only people retry it', oneOfFlag(RERUN)],
  ['--on-disconnect <stop|finish>', 'If the worker loses its scheduler', oneOfFlag(ON_DISCONNECT)],
  ['--secret <NAME=SECRET>', 'Variable set to a secret; may be repeated', collectSecrets],
  ['-e, --env <NAME=VALUE>', 'Variable; NAME alone copies your own', collectVariables],
  ['--cwd <DIRECTORY>', 'Working directory; . is your current one', (path) => resolve(path)],
  ['--tag <TAG,…>', 'Tags to find the job by', collectList],
  ['--requires <TAG,…>', 'Tags that the worker must have', collectList],
  ['--resources <NAME=AMOUNT,…>', 'What it needs: memory_mb=512,gpu=1', collectAmounts],
  ['--fair-key <KEY>', 'Tenant: the keys of a queue take turns'],
  ['--limit <KEY=MAX>', 'At most MAX with this key run at a time', collectLimits],
  ['--rate <KEY=LIMIT/PER>', 'At most this number of starts per period: api=10/1s', collectRates],
  ['--on-limit <queue|skip>', 'At a full limit: wait (default), or skip', oneOfFlag(ON_LIMIT)],
  ['--notify <EVENT,…=TARGET>', 'Such as failed=URL, slow:10m=COMMAND', collectNotify],
];

const JOB_FLAGS: readonly FlagRow[] = [
  ['--name <NAME>', 'Name of the job'],
  ['--delay <DURATION>', 'Start after this delay', durationFlag],
  ['--run-at <INSTANT>', 'Start at this time', instantFlag],
  ['--depends-on <ID[:CONDITION],…>', 'After these: 12, 13:failure, 14:ended', collectDependencies],
  ['--unique <KEY>', 'At most one unfinished job with this key'],
  ['--unique-while <SPAN>', 'pending, active (default) or a duration'],
  ['--unique-on-conflict <WHAT>', UNIQUE_CONFLICTS.join(', '), oneOfFlag(UNIQUE_CONFLICTS)],
  ['--unique-wait <DURATION>', 'Debounce: after the last submission', durationFlag],
  ['--unique-max-wait <DURATION>', 'Debounce: after the first submission', durationFlag],
];

const GANG_FLAGS: readonly FlagRow[] = [
  ['--gang <SIZE>', 'Submit SIZE jobs that all start, or none', integerFlag],
  ['--gang-min <COUNT>', 'Start with fewer if not all fit', integerFlag],
  ['--gang-spread <HOW>', 'pack (default), spread or same-worker', oneOfFlag(SPREADS)],
  ['--gang-on-member-failure <WHAT>', ON_MEMBER_FAILURE.join(', '), oneOfFlag(ON_MEMBER_FAILURE)],
  ['--gang-timeout <DURATION>', 'Time until slots are chosen anew (10m)', durationFlag],
  ['--gang-fail-fast', 'Refuse what all workers together cannot hold'],
];

const JOB_GROUP = 'Job:';

/** Flags for jobs and for the jobs of schedules. */
export function addWorkFlags(command: Command): Command {
  return addRows(command, WORK_FLAGS);
}

export function addJobFlags(command: Command): Command {
  return addRows(command, [...JOB_FLAGS, ...WORK_FLAGS]);
}

export function addGangFlags(command: Command): Command {
  return addRows(command, GANG_FLAGS);
}

function addRows(command: Command, rows: readonly FlagRow[]): Command {
  for (const [flags, about, parse] of rows) {
    const option = new Option(flags, about).helpGroup(JOB_GROUP);
    // Commander would read `--no-retry-on` as the opposite of `--retry-on`.
    option.negate = false;
    command.addOption(parse === undefined ? option : option.argParser(parse));
  }
  return command;
}

/** Flags that set a field of another name. */
const FIELDS: Readonly<Record<string, string>> = {
  tag: 'tags',
  limit: 'limits',
  rate: 'rates',
  secret: 'env',
  unique: 'unique.key',
  gang: 'gang.size',
};

/** The job from the flags. Contains only what was given, so that the server's defaults apply. */
export function jobFrom(command: Command): Record<string, unknown> {
  const job: Record<string, unknown> = {};
  for (const option of command.options.filter(({ helpGroupHeading }) => helpGroupHeading === JOB_GROUP)) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value === undefined) continue;
    const [, whole, part] = /^(unique|gang)-(.*)$/.exec(option.name()) ?? [];
    const path = FIELDS[option.name()] ?? [whole, part ?? option.name()].filter(Boolean).join('.');
    const [field = '', inner] = path.replaceAll('-', '_').split('.');
    if (inner !== undefined) job[field] = { ...(job[field] as object | undefined), [inner]: value };
    else if (field === 'env') job[field] = { ...(job[field] as object | undefined), ...(value as object) };
    else job[field] = field === 'input' ? (value as { json: unknown }).json : value;
  }
  for (const [field, key] of [
    ['unique', 'key'],
    ['gang', 'size'],
  ] as const) {
    const rules = job[field] as Record<string, unknown> | undefined;
    if (rules !== undefined && rules[key] === undefined)
      throw usageError(`--${field}-${Object.keys(rules)[0]?.replaceAll('_', '-')} needs --${field}`);
  }
  return job;
}

/** The job from the flags with the command after `--`, if there is one. Throws if it has a command and a handler, too. */
export function workFrom(command: Command, words: readonly string[]): Record<string, unknown> {
  const job = jobFrom(command);
  if (words.length === 0) return job;
  if (job['handler'] !== undefined) throw usageError('expected a command after --, or --handler, not both');
  return { ...job, command: commandOf(words) };
}

/** Throws for an input without a handler. The job of an existing schedule may have its handler already. */
export function refuseLoneInput(job: Record<string, unknown>): void {
  if ('input' in job && job['handler'] === undefined) throw usageError('--input goes with --handler NAME');
}
