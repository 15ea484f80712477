import { Command } from 'commander';
import { isWorkronError } from '../../core/error.ts';
import { type WallTime, wallTimeOf } from '../../core/schedule/clock-note.ts';
import { clockRuleOf, expressionsIn, parseCron, splitCron } from '../../core/schedule/cron.ts';
import type { ClockRule } from '../../core/schedule/cron-recurrence.ts';
import { oldestTicks, requireTicks } from '../../core/schedule/recurrence.ts';
import { zoneOf } from '../../core/schedule/zone.ts';
import { print, printData, terminalWidth } from '../client-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { countFlag, instantFlag } from '../flags/values.ts';
import { CLOCK_TEXTS } from '../output/schedule.ts';
import { bold, dim } from '../output/style.ts';
import { type Column, renderTable } from '../output/table.ts';

interface TestOptions {
  timezone: string;
  from?: string;
  count: number;
  json?: boolean;
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
  return new Command('test')
    .description('Explain a cron expression and list its next ticks; needs no server')
    .argument('<expression>', 'Five fields, six with seconds first, or a macro such as @daily')
    .option('--timezone <ZONE>', 'IANA name of the time zone', 'UTC')
    .option('--from <INSTANT>', 'List ticks from this instant on (default: now)', instantFlag)
    .option('-n, --count <NUMBER>', 'Number of ticks', countFlag(1, 1_000), 10)
    .option('--json', 'Print JSON')
    .action(async (expression: string, options: TestOptions) => {
      const from = options.from === undefined ? Date.now() : Date.parse(options.from);
      const ticks = refusing(() => ticksOf(expression, options, from));
      const rules = expressionsIn(expression).map((one) => clockRuleOf(splitCron(one)));
      // Expressions with different rules each keep their own.
      const rule = new Set(rules).size === 1 ? (rules[0] as ClockRule) : 'mixed';
      const { describeCron } = await import('../../api/describe-schedule.ts');
      const description = describeCron(expression);
      if (options.json) {
        const items = ticks.map(({ at, wall, note }) => ({ at, local: wall.text, note }));
        printData({ cron: expression, timezone: options.timezone, description, clock_rule: rule, items }, 'json');
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
