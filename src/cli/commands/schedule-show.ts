/** Commands that show schedules, their ticks, and what an expression means. */

import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { ScheduleDetail } from '../../api/schedule.ts';
import type { LedgerEntry } from '../../api/tick.ts';
import { isWorkronError } from '../../core/error.ts';
import { type WallTime, wallTimeOf } from '../../core/schedule/clock-note.ts';
import { clockRuleOf, expressionsIn, parseCron, splitCron } from '../../core/schedule/cron.ts';
import type { ClockRule } from '../../core/schedule/cron-recurrence.ts';
import { oldestTicks, requireTicks } from '../../core/schedule/recurrence.ts';
import { TICK_KINDS, TICK_VERDICTS } from '../../core/schedule/tick.ts';
import { zoneOf } from '../../core/schedule/zone.ts';
import {
  clientCommand,
  connect,
  jsonOption,
  listCommand,
  outputOf,
  print,
  printData,
  terminalWidth,
} from '../client-command.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { countFlag, instantFlag, oneOfFlag } from '../flags/values.ts';
import { CLOCK_TEXTS, describeSchedule, LEDGER_COLUMNS, nextColumns, SCHEDULE_COLUMNS } from '../output/schedule.ts';
import { bold, dim } from '../output/style.ts';
import { type Column, listUpTo, printList, renderTable } from '../output/table.ts';

const LISTING = { columns: SCHEDULE_COLUMNS, id: ({ name }: ScheduleDetail) => name, none: 'no schedules' };

interface Flags {
  owner?: string;
  limit: number;
}

/** `workron schedule ls [TEXT]`: lists schedules by name. */
export function scheduleLsCommand(): Command {
  const command = listCommand('ls', 'List schedules by name')
    .argument('[text]', 'Part of the name')
    .option('--owner <NAME>', 'Of this owner')
    .option('-n, --limit <NUMBER>', 'Maximum number of rows', countFlag(1, 1_000_000), 50);
  return command.action(async (text: string | undefined, { owner, limit }: Flags) => {
    const connection = connect(command);
    const { rows, more } = await listUpTo(limit, (page) =>
      connection.json(routes.listSchedules, { query: { q: text, owner, ...page } }),
    );
    printList(rows, LISTING, outputOf(command), more);
  });
}

/** `workron schedule show NAME`: prints its rules, its next runs and its last ticks. */
export function scheduleShowCommand(): Command {
  const command = clientCommand('show', 'Show a schedule, its next runs and its last ticks').argument(
    '<name>',
    'Schedule name',
  );
  return command.action(async (name: string) => {
    const connection = connect(command);
    const { json, quiet } = outputOf(command);
    const schedule = await connection.json(routes.readSchedule, { params: { name } });
    if (json) return printData(schedule, json);
    if (quiet) return print(schedule.name);
    const [next, ticks] = await Promise.all([
      connection.json(routes.listNextTicks, { params: { name }, query: { count: 3 } }),
      connection.json(routes.listTicks, { params: { name }, query: { limit: 5 } }),
    ]);
    print(describeSchedule(schedule, next, ticks.items));
  });
}

/** `workron schedule next NAME`: prints its next runs, in its zone and in UTC. */
export function scheduleNextCommand(): Command {
  const command = clientCommand('next', 'List the next ticks of a schedule, in its zone and in UTC')
    .argument('<name>', 'Schedule name')
    .option('-n, --count <NUMBER>', 'How many', countFlag(1, 1_000), 10);
  return command.action(async (name: string, { count }: { count: number }) => {
    const next = await connect(command).json(routes.listNextTicks, { params: { name }, query: { count } });
    const { json, quiet } = outputOf(command);
    if (json) return printData(next, json);
    if (quiet) return print(next.items.map(({ utc }) => utc).join('\n'));
    const table = renderTable(nextColumns(next), next.items, terminalWidth());
    print(next.items.length === 0 ? 'no further ticks' : table);
  });
}

const TICKS = { columns: LEDGER_COLUMNS, id: ({ scheduled_for }: LedgerEntry) => scheduled_for, none: 'no ticks yet' };

interface TickFlags {
  key?: string;
  kind?: string;
  verdict?: string;
  limit: number;
}

/** `workron schedule ticks NAME`: prints the ledger. */
export function scheduleTicksCommand(): Command {
  const command = listCommand('ticks', 'List the ticks of a schedule with verdict and outcome, newest first')
    .argument('<name>', 'Schedule name')
    .option('--key <KEY>', 'Of this key')
    .option('--kind <KIND>', `One of ${TICK_KINDS.join(', ')}`, oneOfFlag(TICK_KINDS))
    .option('--verdict <VERDICT>', `One of ${TICK_VERDICTS.join(', ')}`, oneOfFlag(TICK_VERDICTS))
    .option('-n, --limit <NUMBER>', 'Maximum number of rows', countFlag(1, 200), 50);
  return command.action(async (name: string, { limit, key, kind, verdict }: TickFlags) => {
    const query = { key, kind, verdict, limit };
    const page = await connect(command).json(routes.listTicks, { params: { name }, query });
    printList(page.items, TICKS, outputOf(command), page.next_cursor !== null);
  });
}

interface TestOptions {
  timezone: string;
  from?: string;
  count: number;
}

interface ListedTick {
  /** UTC. */
  at: string;
  wall: WallTime;
  /** The clock change at this tick, or since the tick before it. */
  note: string | null;
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const RULES: Readonly<Record<ClockRule | 'mixed', string>> = {
  fixed: 'DST: skipped times fire right after the gap; repeated times fire once',
  wildcard: 'DST: fires whenever the clock shows a matching time, twice in a repeated hour',
  mixed: 'DST: expressions with * or */n in minute or hour fire whenever the clock matches; others fire once',
};

/** `workron schedule test`: explains an expression and lists its next ticks, without a server. */
export function scheduleTestCommand(): Command {
  const command = new Command('test')
    .description('Explain a cron expression and list its next ticks; needs no server')
    .argument('<expression>', 'Five fields, six with seconds first, or a macro such as @daily')
    .option('--timezone <ZONE>', 'IANA name of the time zone', 'UTC')
    .option('--from <INSTANT>', 'List ticks from this instant on (default: now)', instantFlag)
    .option('-n, --count <NUMBER>', 'Number of ticks', countFlag(1, 1_000), 10)
    .addOption(jsonOption());
  return command.action(async (expression: string, options: TestOptions) => {
    const from = options.from === undefined ? Date.now() : Date.parse(options.from);
    const ticks = refusing(() => ticksOf(expression, options, from));
    const rules = expressionsIn(expression).map((one) => clockRuleOf(splitCron(one)));
    // Expressions with different rules each keep their own.
    const rule = new Set(rules).size === 1 ? (rules[0] as ClockRule) : 'mixed';
    const { describeCron } = await import('../../api/describe-schedule.ts');
    const description = describeCron(expression);
    const { json } = outputOf(command);
    if (json) {
      const items = ticks.map(({ at, wall, note }) => ({ at, local: wall.text, note }));
      printData({ cron: expression, timezone: options.timezone, description, clock_rule: rule, items }, json);
      return;
    }
    print(`${bold(description ?? expression)}, ${options.timezone}\n${dim(RULES[rule])}\n\n`);
    print(renderTable(columnsFor(options.timezone), ticks, terminalWidth()));
  });
}

function ticksOf(expression: string, { timezone, count }: TestOptions, from: number): ListedTick[] {
  const recurrence = parseCron(expression, timezone);
  requireTicks(recurrence, from - 1);
  const zone = zoneOf(timezone);
  let before = wallTimeOf(zone, from);
  return oldestTicks(recurrence, from - 1, Number.POSITIVE_INFINITY, count).map((tick) => {
    const wall = wallTimeOf(zone, tick);
    const note = wall.note === null ? changeSince(before, wall) : CLOCK_TEXTS[wall.note];
    before = wall;
    return { at: new Date(tick).toISOString(), wall, note };
  });
}

function changeSince(before: WallTime, now: WallTime): string | null {
  const [offset, previous] = [now.text.slice(19), before.text.slice(19)];
  return offset === previous ? null : `the clock has changed from ${previous} to ${offset}`;
}

/** Turns errors about the expression into usage errors. */
function refusing<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isWorkronError(error, 'schedule_invalid')) throw error;
    throw new CliError(EXIT.usage, error.message, { problem: { title: error.message, code: error.code } });
  }
}

function columnsFor(timezone: string): Column<ListedTick>[] {
  return [
    { title: timezone.toUpperCase(), text: ({ wall }) => `${WEEKDAYS[wall.weekday]} ${spaced(wall.text)}` },
    { title: 'UTC', text: ({ at }) => at.replace('.000Z', 'Z') },
    { title: 'CLOCK', text: ({ note }) => note ?? '', format: () => 'yellow', flexible: true },
  ];
}

/** `2027-03-14T03:00:00-04:00` as `2027-03-14 03:00:00 -04:00`. */
function spaced(text: string): string {
  return `${text.slice(0, 10)} ${text.slice(11, 19)} ${text.slice(19)}`;
}
