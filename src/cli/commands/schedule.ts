/** Commands that make, change and run schedules. */

import { Command } from 'commander';
import { countText } from '../../api/count-text.ts';
import { routes } from '../../api/routes.ts';
import type { Schedule } from '../../api/schedule.ts';
import type { Tick } from '../../api/tick.ts';
import {
  changeEach,
  clientCommand,
  connect,
  type Output,
  outputOf,
  print,
  printData,
  refuseExtra,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { refuseLoneInput } from '../flags/job.ts';
import { addScheduleEditFlags, addScheduleFlags, scheduleFrom } from '../flags/schedule.ts';
import { collectList, pastFlag } from '../flags/values.ts';
import { followJob } from '../follow/job.ts';
import { followToEnd } from '../follow/workflow.ts';
import { runOf, whenText } from '../output/schedule.ts';
import { when } from '../output/when.ts';
import {
  scheduleLsCommand,
  scheduleNextCommand,
  scheduleShowCommand,
  scheduleTestCommand,
  scheduleTicksCommand,
} from './schedule-show.ts';

/** `workron schedule …` */
export function scheduleCommand(): Command {
  const command = new Command('schedule')
    .alias('schedules')
    .description('Create, show, pause and run schedules; explain expressions');
  command.allowExcessArguments().action(() => {
    refuseExtra(command);
    command.outputHelp();
  });
  return command
    .addCommand(scheduleAddCommand())
    .addCommand(scheduleLsCommand())
    .addCommand(scheduleShowCommand())
    .addCommand(scheduleNextCommand())
    .addCommand(scheduleTicksCommand())
    .addCommand(scheduleEditCommand())
    .addCommand(schedulePauseCommand())
    .addCommand(scheduleResumeCommand())
    .addCommand(scheduleRunCommand())
    .addCommand(scheduleBackfillCommand())
    .addCommand(scheduleRmCommand())
    .addCommand(scheduleTestCommand())
    .addCommand(scheduleSchemaCommand());
}

/** `workron schedule schema`: prints schema/schedules.schema.json. */
function scheduleSchemaCommand(): Command {
  return new Command('schema').description('Print the JSON Schema of schedule files, for editors').action(async () => {
    const { scheduleJsonSchema } = await import('../../api/schedule-file.ts');
    print(JSON.stringify(scheduleJsonSchema(), null, 2));
  });
}

const EXAMPLE = 'workron schedule add nightly --cron "0 2 * * *" --timezone Europe/Berlin -- ./report.sh';

/** `workron schedule add NAME --cron … -- CMD…` */
function scheduleAddCommand(): Command {
  const command = clientCommand('add', 'Create a schedule')
    .usage('NAME --cron EXPRESSION [flags] -- COMMAND…')
    .argument('<name>', 'Letters a-z, digits, ".", "_" and "-"')
    .argument('[command...]', 'One argument is a shell line; several are quoted and joined');
  return addScheduleFlags(command).action(async (name: string, words: string[]) => {
    const wanted = await scheduleFrom(command, words);
    if ((wanted['cron'] === undefined) === (wanted['every'] === undefined)) {
      throw usageError('expected exactly one of --cron and --every', EXAMPLE);
    }
    const job = wanted['job'] as { command?: string; handler?: string } | undefined;
    refuseLoneInput({ ...job });
    const runs = wanted['workflow'] ?? wanted['definition'];
    if (job?.command === undefined && job?.handler === undefined && runs === undefined) {
      throw usageError('expected a command after --, --handler NAME or --workflow FILE|NAME', EXAMPLE);
    }
    const schedule = await connect(command).json(routes.createSchedule, { body: { name, ...wanted } });
    showSchedule(schedule, outputOf(command), 'added');
  });
}

/** `workron schedule edit NAME …`: changes only what is given. */
function scheduleEditCommand(): Command {
  const command = clientCommand('edit', 'Change a schedule; new times count from now')
    .usage('NAME [flags] [-- COMMAND [ARGUMENT…]]')
    .argument('<name>', 'Schedule name')
    .argument('[command...]', 'What to run instead');
  return addScheduleEditFlags(command).action(async (name: string, words: string[]) => {
    const edit = await scheduleFrom(command, words);
    if (Object.keys(edit).length === 0) {
      throw usageError('expected something to change', 'workron schedule edit nightly --cron "0 3 * * *"');
    }
    const schedule = await connect(command).json(routes.editSchedule, { params: { name }, body: edit });
    showSchedule(schedule, outputOf(command), 'changed');
  });
}

function showSchedule(schedule: Schedule, { json, quiet }: Output, verb: string): void {
  if (json) return printData(schedule, json);
  if (quiet) return print(schedule.name);
  const next = schedule.next_run === null ? '' : `; next run ${when(schedule.next_run)}`;
  print(`${verb} schedule ${schedule.name}: ${whenText(schedule)}${next}`);
}

function schedulePauseCommand(): Command {
  const command = clientCommand('pause', 'Pause schedules until they are resumed')
    .argument('<name...>', 'Schedule names')
    .option('--note <TEXT>', 'Reason to show while paused');
  return command.action(async (names: string[], { note }: { note?: string }) => {
    const body = note === undefined ? {} : { note };
    await changeEach(command, names, {
      act: (connection, name) => connection.json(routes.pauseSchedule, { params: { name }, body }),
      id: nameOf,
      text: ({ name }) => `schedule ${name} is paused`,
    });
  });
}

function scheduleResumeCommand(): Command {
  const command = clientCommand('resume', 'Resume paused schedules, from now on');
  return command.argument('<name...>', 'Schedule names').action((names: string[]) =>
    changeEach(command, names, {
      act: (connection, name) => connection.json(routes.resumeSchedule, { params: { name } }),
      id: nameOf,
      text: ({ name, next_run }) =>
        `schedule ${name} goes on${next_run === null ? '' : `, next run ${when(next_run)}`}`,
    }),
  );
}

function scheduleRmCommand(): Command {
  const command = clientCommand('rm', 'Delete schedules; runs that have started continue');
  return command.argument('<name...>', 'Schedule names').action((names: string[]) =>
    changeEach(command, names, {
      act: (connection, name) => connection.json(routes.deleteSchedule, { params: { name } }),
      id: nameOf,
      text: ({ name }) => `schedule ${name} is deleted`,
    }),
  );
}

function nameOf({ name }: Schedule): string {
  return name;
}

/** How many ids a sentence names. */
const MAX_IDS = 10;

const keyed = (keys: string[] | undefined, idempotencyKey: string | undefined) => ({
  body: keys === undefined ? {} : { keys },
  headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
});

/** `workron schedule run NAME`: runs it now, even if it is paused. */
function scheduleRunCommand(): Command {
  const command = clientCommand('run', 'Run a schedule now, paused or not')
    .argument('<name>', 'Schedule name')
    .option('--key <KEY,…>', 'Only for these keys of its for_each', collectList)
    .option('-f, --follow', 'Show what it does until it ends; exit with the code of the job')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key runs nothing new');
  return command.action(async (name: string, flags: RunFlags) => {
    const call = keyed(flags.key, flags.idempotencyKey);
    const connection = connect(command);
    const { items } = await connection.json(routes.runSchedule, { params: { name }, ...call });
    const output = outputOf(command);
    const [only] = items;
    if (flags.follow) return await followRun(connection, items, output);
    if (items.length !== 1 || only === undefined || output.json || output.quiet) return showRuns(items, items, output);
    print(`started ${runOf(only)}`);
  });
}

interface RunFlags {
  key?: string[];
  follow?: boolean;
  idempotencyKey?: string;
}

/** One run can be followed; of several, the first is not more than the others. */
async function followRun(connection: Connection, ticks: readonly Tick[], output: Output): Promise<void> {
  const [only, ...more] = ticks;
  if (only === undefined || more.length > 0) {
    showRuns(ticks, ticks, output);
    return note('--follow is for a single run; --key chooses one');
  }
  if (!output.json && !output.quiet) note(runOf(only));
  if (only.workflow_id !== null) await followToEnd(connection, only.workflow_id, output);
  else if (only.job_id !== null) await followJob(connection, only.job_id, output);
}

interface BackfillFlags {
  from?: string;
  to?: string;
  key?: string[];
  dryRun?: boolean;
  idempotencyKey?: string;
}

/** `workron schedule backfill NAME --from … --to …`: runs past ticks that have no run. */
function scheduleBackfillCommand(): Command {
  const command = clientCommand('backfill', 'Run past ticks of a schedule that did not run')
    .argument('<name>', 'Schedule name')
    .option('--from <INSTANT>', 'First tick to run; 2h is two hours ago', pastFlag)
    .option('--to <INSTANT>', 'Run ticks before this instant (default: now)', pastFlag)
    .option('--key <KEY,…>', 'Only for these keys of its for_each', collectList)
    .option('--dry-run', 'Only list the ticks')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key runs nothing new');
  return command.action(async (name: string, { from, to, key, dryRun, idempotencyKey }: BackfillFlags) => {
    if (from === undefined)
      throw usageError('expected --from', 'workron schedule backfill nightly --from 3d --dry-run');
    const call = keyed(key, idempotencyKey);
    const body = { ...call.body, from, to: to ?? new Date().toISOString(), ...(dryRun ? { dry_run: true } : {}) };
    const answer = await connect(command).json(routes.backfillSchedule, { params: { name }, ...call, body });
    const output = outputOf(command);
    if (!dryRun || output.json) return showRuns(answer.items, answer, output);
    for (const { key: one, scheduled_for } of answer.missing)
      print(one === null ? scheduled_for : `${scheduled_for}  ${one}`);
    if (!output.quiet)
      note(`${countText(answer.missing.length, 'tick has', 'ticks have')} no run; leave out --dry-run to run`);
  });
}

function showRuns(ticks: readonly Tick[], answer: unknown, { json, quiet }: Output): void {
  if (json) return printData(answer, json);
  if (quiet) return print(ticks.map(({ job_id, workflow_id }) => job_id ?? workflow_id ?? '').join('\n'));
  print(ticks.length === 0 ? 'nothing to run' : `started ${countText(ticks.length, 'run')}: ${runsText(ticks)}`);
}

/** `jobs 4, 5`, `workflow 3`; of many, the first and the last. */
function runsText(ticks: readonly Tick[]): string {
  const noun = ticks[0]?.workflow_id == null ? 'job' : 'workflow';
  const ids = ticks.flatMap(({ job_id, workflow_id }) => workflow_id ?? job_id ?? []);
  const shown = ids.length > MAX_IDS ? `${ids[0]} … ${ids.at(-1)}` : ids.join(', ');
  return `${noun}${ids.length === 1 ? '' : 's'} ${shown}`;
}
