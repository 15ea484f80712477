import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { LedgerEntry } from '../../api/tick.ts';
import { TICK_KINDS, TICK_VERDICTS } from '../../core/schedule/tick.ts';
import { clientCommand, connect, listCommand, outputOf, print, printData, terminalWidth } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { countFlag, oneOfFlag } from '../flags/values.ts';
import { listText } from '../output/list.ts';
import { describeSchedule, LEDGER_COLUMNS, nextColumns } from '../output/schedule.ts';
import { renderTable } from '../output/table.ts';

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
    const output = outputOf(command);
    print(listText(page.items, TICKS, output));
    if (page.next_cursor !== null && !output.json && !output.quiet)
      note(`showing ${page.items.length}; use --limit to see more`);
  });
}
