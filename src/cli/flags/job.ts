/** The flags that describe a job, for `submit` and `run`. */

import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { JobSubmissionInput } from '../../api/job-submission.ts';
import { BACKOFF_TYPES, ON_DISCONNECT, RERUN } from '../../core/job.ts';
import { ON_LIMIT } from '../../core/meter.ts';
import { UNIQUE_CONFLICTS } from '../../core/unique.ts';
import { usageError } from '../errors/cli-error.ts';
import { commandOf } from '../input/shell-line.ts';
import {
  collectAmounts,
  collectCodes,
  collectIds,
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
  type LimitFlag,
  type NotifyFlag,
  oneOfFlag,
  type RateFlag,
} from './values.ts';

/** Flags for jobs and for the jobs of schedules. */
export function addWorkFlags(command: Command): Command {
  return command
    .optionsGroup('Job:')
    .option('--handler <NAME>', 'Run this handler instead of a command')
    .option('--input <JSON>', 'Input of the handler', jsonFlag)
    .option('--seal-input', 'Encrypt the input in the store; only the worker that runs the job gets it')
    .option('--queue <NAME>', 'Queue of the job (default: default)')
    .option('-p, --priority <NUMBER>', 'Jobs with a higher priority run first (default: 0)', integerFlag)
    .option('--timeout <DURATION>', 'Stop an attempt that takes longer than this (default: 5m)', durationFlag)
    .option('--start-timeout <DURATION>', 'Fail the job if it has not started within this time', durationFlag)
    .option('--kill-grace <DURATION>', 'Time between SIGTERM and SIGKILL (default: 10s)', durationFlag)
    .option('--max-attempts <NUMBER>', 'Fail the job after this many failed attempts (default: 3; run: 1)', integerFlag)
    .option('--backoff <TYPE[:BASE[:CAP]]>', 'Delay between attempts: exponential, fixed or none, such as fixed:30s')
    .option('--retry-on <CODE,…>', 'Retry only after these exit codes', collectCodes)
    .option('--dont-retry-on <CODE,…>', 'Never retry after these exit codes', collectCodes)
    .option('--rerun <safe|never>', 'never: once started, run it again only if a person retries it', oneOfFlag(RERUN))
    .option(
      '--on-disconnect <stop|finish>',
      'What to do if the worker loses its scheduler (default: stop)',
      oneOfFlag(ON_DISCONNECT),
    )
    .option(
      '--secret <NAME=SECRET>',
      'Environment variable set to a secret of the server; may be repeated',
      collectSecrets,
    )
    .option(
      '-e, --env <NAME=VALUE>',
      'Environment variable; NAME alone copies your own; may be repeated',
      collectVariables,
    )
    .option('--cwd <DIRECTORY>', 'Working directory on the worker; . is your current directory')
    .option('--tag <TAG,…>', 'Tags to find the job by', collectList)
    .option('--requires <TAG,…>', 'Tags that the worker must have', collectList)
    .option('--resources <NAME=AMOUNT,…>', 'Capacity that the job needs, such as memory_mb=512,gpu=1', collectAmounts)
    .option('--fair-key <KEY>', 'Tenant of the job: the keys of a queue take turns')
    .option('--limit <KEY=MAX>', 'Start only if fewer than MAX jobs with this key run; may be repeated', collectLimits)
    .option(
      '--rate <KEY=LIMIT/PER>',
      'Maximum starts per period with this key: api=10/1s; may be repeated',
      collectRates,
    )
    .option('--on-limit <queue|skip>', 'At a full limit: wait (default), or end as skipped', oneOfFlag(ON_LIMIT))
    .option(
      '--notify <EVENT,…=TARGET>',
      'Send notifications: failed,recovered=URL, slow:10m=URL, or =COMMAND; may be repeated',
      collectNotify,
    )
    .optionsGroup('Options:');
}

export function addJobFlags(command: Command): Command {
  return addWorkFlags(
    command
      .optionsGroup('Job:')
      .option('--name <NAME>', 'Name of the job')
      .option('--delay <DURATION>', 'Start after this delay', durationFlag)
      .option('--at <INSTANT>', 'Start at this time', instantFlag)
      .option('--after <ID,…>', 'Start after these jobs have succeeded', collectIds)
      .option('--after-failure <ID,…>', 'Start after these jobs have failed', collectIds)
      .option('--after-any <ID,…>', 'Start after these jobs have ended, with any result', collectIds)
      .option('--unique <KEY>', 'At most one unfinished job with this key')
      .option('--unique-while <SPAN>', 'How long the key is taken: pending, active or a duration (default: active)')
      .option(
        '--on-conflict <WHAT>',
        'If the key is taken: existing, replace, reject, supersede or after (default: existing)',
        oneOfFlag(UNIQUE_CONFLICTS),
      )
      .option('--unique-wait <DURATION>', 'Debounce: start this long after the last submission', durationFlag)
      .option(
        '--unique-max-wait <DURATION>',
        'Debounce: start no later than this long after the first submission',
        durationFlag,
      ),
  );
}

interface JobFlags {
  handler?: string;
  input?: { json: unknown };
  sealInput?: boolean;
  name?: string;
  queue?: string;
  priority?: number;
  delay?: number;
  at?: string;
  timeout?: number;
  startTimeout?: number;
  killGrace?: number;
  maxAttempts?: number;
  backoff?: string;
  retryOn?: number[];
  dontRetryOn?: number[];
  rerun?: JobSubmissionInput['rerun'];
  onDisconnect?: JobSubmissionInput['on_disconnect'];
  env?: Record<string, string>;
  secret?: Record<string, { secret: string }>;
  cwd?: string;
  tag?: string[];
  requires?: string[];
  resources?: Record<string, number>;
  fairKey?: string;
  limit?: LimitFlag[];
  rate?: RateFlag[];
  onLimit?: JobSubmissionInput['on_limit'];
  notify?: NotifyFlag[];
  after?: string[];
  afterFailure?: string[];
  afterAny?: string[];
  unique?: string;
  uniqueWhile?: string;
  onConflict?: string;
  uniqueWait?: string;
  uniqueMaxWait?: string;
}

/** The job from the flags. Contains only what was given, so that the server's defaults apply. */
export function jobFrom(command: Command): Record<string, unknown> {
  const flags = command.opts<JobFlags>();
  const job = {
    handler: flags.handler,
    input: flags.input?.json,
    seal_input: flags.sealInput,
    name: flags.name,
    queue: flags.queue,
    priority: flags.priority,
    delay: flags.delay,
    run_at: flags.at,
    timeout: flags.timeout,
    start_timeout: flags.startTimeout,
    kill_grace: flags.killGrace,
    max_attempts: flags.maxAttempts,
    backoff: flags.backoff === undefined ? undefined : backoffFrom(flags.backoff),
    retry_on: flags.retryOn,
    no_retry_on: flags.dontRetryOn,
    rerun: flags.rerun,
    on_disconnect: flags.onDisconnect,
    env: flags.env === undefined && flags.secret === undefined ? undefined : { ...flags.env, ...flags.secret },
    cwd: flags.cwd === undefined ? undefined : resolve(flags.cwd),
    tags: flags.tag,
    requires: flags.requires,
    resources: flags.resources,
    fair_key: flags.fairKey,
    limits: flags.limit,
    rates: flags.rate,
    on_limit: flags.onLimit,
    notify: flags.notify,
    depends_on: dependenciesFrom(flags),
    unique: uniqueFrom(flags),
  };
  return Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined));
}

function backoffFrom(text: string): NonNullable<JobSubmissionInput['backoff']> {
  const [type = '', base, cap] = text.split(':');
  if (!(BACKOFF_TYPES as readonly string[]).includes(type)) {
    throw usageError(`--backoff: expected ${BACKOFF_TYPES.join(', ')}, not "${type}"`, '--backoff exponential:5s:1h');
  }
  return {
    type: type as (typeof BACKOFF_TYPES)[number],
    ...(base === undefined ? {} : { base: durationFlag(base) }),
    ...(cap === undefined ? {} : { cap: durationFlag(cap) }),
  };
}

function dependenciesFrom({ after = [], afterFailure = [], afterAny = [] }: JobFlags): unknown[] | undefined {
  const dependencies = [
    ...after,
    ...afterFailure.map((job) => ({ job, if: 'failure' })),
    ...afterAny.map((job) => ({ job, if: 'ended' })),
  ];
  return dependencies.length === 0 ? undefined : dependencies;
}

function uniqueFrom({ unique, uniqueWhile, onConflict, uniqueWait, uniqueMaxWait }: JobFlags): object | undefined {
  const how = { while: uniqueWhile, on_conflict: onConflict, wait: uniqueWait, max_wait: uniqueMaxWait };
  if (unique !== undefined) return { key: unique, ...how };
  if (Object.values(how).every((value) => value === undefined)) return undefined;
  throw usageError('--unique-while, --on-conflict, --unique-wait and --unique-max-wait need --unique KEY');
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
