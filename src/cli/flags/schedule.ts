/** The flags that describe a schedule, for `schedule add` and `schedule edit`. */

import type { Command } from 'commander';
import { CATCHUP_POLICIES, MAX_CAUGHT_UP } from '../../core/schedule/plan-ticks.ts';
import { OVERLAP_POLICIES } from '../../core/schedule/schedule.ts';
import { usageError } from '../errors/cli-error.ts';
import { submittedWorkflow, workflowName } from '../input/workflow.ts';
import { addWorkFlags, workFrom } from './job.ts';
import {
  collectList,
  collectPairs,
  collectTexts,
  countFlag,
  durationFlag,
  instantFlag,
  type NotifyFlag,
  oneOfFlag,
} from './values.ts';

const NONE = 'none';

export function addScheduleFlags(command: Command): Command {
  command
    .optionsGroup('When:')
    .option(
      '--cron <EXPRESSION>',
      'Five fields, six with seconds first, or a macro such as @daily; may be repeated',
      collectTexts,
    )
    .option('--every <DURATION>', 'A period of real time, instead of --cron', durationFlag)
    .option('--anchor <INSTANT>', 'Instant that --every counts from', instantFlag)
    .option('--timezone <ZONE|none>', 'IANA name, such as Europe/Berlin (default: UTC)')
    .option('--jitter <DURATION|none>', 'Delay each run by up to this much, to spread the load', orNone(durationFlag))
    .option('--start-at <INSTANT|none>', 'No ticks before this instant', orNone(instantFlag))
    .option('--end-at <INSTANT|none>', 'No ticks from this instant on', orNone(instantFlag))
    .optionsGroup('Overlap and catch-up:')
    .option(
      '--overlap <POLICY>',
      `While a run has not ended: ${OVERLAP_POLICIES.join(', ')}`,
      oneOfFlag(OVERLAP_POLICIES),
    )
    .option('--catchup <POLICY>', `After downtime: ${CATCHUP_POLICIES.join(', ')}`, oneOfFlag(CATCHUP_POLICIES))
    .option('--catchup-window <DURATION>', 'Ticks later than this are missed (default: 1h)', durationFlag)
    .option(
      '--catchup-max <NUMBER>',
      'With --catchup all: maximum number of ticks to run (default: 10)',
      countFlag(1, MAX_CAUGHT_UP),
    )
    .option('--for-each <KEY,…|none>', 'Run once for each of these keys, set as WORKRON_ITEM', orNone(collectList))
    .option('--owner <NAME|none>', 'Owner, for workron apply', orNone(String))
    .optionsGroup('What to run:')
    .option(
      '--workflow <FILE|NAME>',
      'The workflow of a file (./etl.yaml) or a stored one (etl, etl@3), instead of a command',
    )
    .option('--param <NAME=VALUE>', 'Value of a parameter of the workflow; may be repeated', collectPairs);
  return addWorkFlags(command);
}

interface ScheduleFlags {
  cron?: string[];
  every?: number;
  anchor?: string;
  timezone?: string;
  jitter?: number | typeof NONE;
  startAt?: string;
  endAt?: string;
  overlap?: string;
  catchup?: string;
  catchupWindow?: number;
  catchupMax?: number;
  forEach?: string[] | typeof NONE;
  owner?: string;
  workflow?: string;
  param?: Record<string, string>;
  notify?: NotifyFlag[];
}

/**
 * The schedule from the flags and the words after `--`. Contains only what was given, so that the server's defaults apply
 * to a new schedule, and the others keep their values in an existing one.
 */
export async function scheduleFrom(command: Command, words: readonly string[]): Promise<Record<string, unknown>> {
  const flags = command.opts<ScheduleFlags>();
  const { notify, ...job } = cleared(workFrom(command, words));
  const catchup = given({ policy: flags.catchup, window: flags.catchupWindow, max: flags.catchupMax });
  if (flags.workflow !== undefined && words.length > 0) {
    throw usageError('expected a command after --, or --workflow, not both');
  }
  if (flags.workflow === undefined && flags.param !== undefined) throw usageError('--param goes with --workflow');
  if (flags.workflow !== undefined && Object.keys(job).length > 0) {
    throw usageError(`a job has ${flagsOf(job)}, a workflow has none: its steps have such fields in the file`);
  }
  return given({
    cron: flags.cron?.length === 1 ? flags.cron[0] : flags.cron,
    every: flags.every,
    anchor: flags.anchor,
    timezone: flags.timezone === NONE ? 'UTC' : flags.timezone,
    jitter: flags.jitter === NONE ? 0 : flags.jitter,
    start_at: nullable(flags.startAt),
    end_at: nullable(flags.endAt),
    overlap: flags.overlap,
    catchup: Object.keys(catchup).length === 0 ? undefined : catchup,
    for_each: nullable(flags.forEach),
    owner: nullable(flags.owner),
    notify,
    job: Object.keys(job).length === 0 ? undefined : job,
    ...(flags.workflow === undefined ? {} : await workflowFrom(flags.workflow, flags.param ?? {})),
  });
}

/** The workflow of a file, or a stored one that the server makes a workflow of. */
async function workflowFrom(text: string, params: Record<string, string>): Promise<Record<string, unknown>> {
  const named = workflowName(text);
  if ('file' in named) return { workflow: await submittedWorkflow(text, params) };
  return { definition: { name: named.definition, version: named.version ?? 'latest', params } };
}

function given(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function flagsOf(job: Record<string, unknown>): string {
  return Object.keys(job)
    .map((field) => `--${field.replaceAll('_', '-')}`)
    .join(', ');
}

/** Fields of the job that are text, in which `none` is a word like any other. */
const TEXT_FIELDS = ['name', 'queue', 'handler', 'command', 'cwd', 'fair_key', 'input'];

/** `null` sets a field to its default. */
function cleared(job: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(job);
  return Object.fromEntries(
    fields.map(([field, value]) => [field, value === NONE && !TEXT_FIELDS.includes(field) ? null : value]),
  );
}

/** Flags of the job that `schedule edit` sets to their defaults by `none`. */
const CLEARABLE = [
  'priority',
  'timeout',
  'startTimeout',
  'killGrace',
  'maxAttempts',
  'retryOn',
  'noRetryOn',
  'rerun',
  'onDisconnect',
  'tag',
  'requires',
  'resources',
];

/** Adds the flags of `schedule add`, and lets `none` clear those of the job, too. */
export function addScheduleEditFlags(command: Command): Command {
  addScheduleFlags(command);
  for (const option of command.options) {
    const parse = option.parseArg;
    if (CLEARABLE.includes(option.attributeName()) && parse !== undefined) option.argParser(orNone<unknown>(parse));
  }
  return command;
}

/** `none` clears a field. It stays a string until all flags are read, as Commander treats null as not given. */
function orNone<T>(parse: (text: string, before: T | undefined) => T) {
  const read = (text: string, before: T | typeof NONE | undefined): T | typeof NONE =>
    text === NONE ? NONE : parse(text, before === NONE ? undefined : before);
  // A parser of one argument does not collect: its flag may be given once.
  return parse.length > 1 ? read : (text: string) => read(text, undefined);
}

function nullable<T>(value: T | typeof NONE | undefined): T | null | undefined {
  return value === NONE ? null : value;
}
