import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { TICK_KINDS, TICK_VERDICTS } from '../../core/schedule/tick.ts';
import { clientCommand, connect, outputOf, print, printJson, terminalWidth } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { countFlag, oneOfFlag } from '../flags/values.ts';
import { describeSchedule, nextColumns, TICK_COLUMNS } from '../output/schedule.ts';
import { renderTable } from '../output/table.ts';

/** `workron schedule show NAME`: prints its rules, its next runs and its last ticks. */
export function scheduleShowCommand(): Command {
  const command = clientCommand('show', 'Show a schedule, its next runs and its last ticks').argument(
    '<name>',
    'Its name',
  );
  return command.action(async (name: string) => {
    const connection = connect(command);
    const { json, quiet } = outputOf(command);
    const schedule = await connection.json(routes.readSchedule, { params: { name } });
    if (json) return printJson(schedule);
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
    .argument('<name>', 'Its name')
    .option('-n, --count <NUMBER>', 'How many', countFlag(1, 1_000), 10);
  return command.action(async (name: string, { count }: { count: number }) => {
    const next = await connect(command).json(routes.listNextTicks, { params: { name }, query: { count } });
    const { json, quiet } = outputOf(command);
    if (json) return printJson(next);
    if (quiet) return print(next.items.map(({ utc }) => utc).join('\n'));
    const table = renderTable(nextColumns(next), next.items, terminalWidth());
    print(next.items.length === 0 ? 'no further ticks' : table);
  });
}

interface TickFlags {
  key?: string;
  kind?: string;
  verdict?: string;
  limit: number;
}

/** `workron schedule ticks NAME`: prints the ledger. */
export function scheduleTicksCommand(): Command {
  const command = clientCommand(
    'ticks',
    'List the ticks of a schedule and what became of each, the last one judged first',
  )
    .argument('<name>', 'Its name')
    .option('--key <KEY>', 'Of this key')
    .option('--kind <KIND>', `One of ${TICK_KINDS.join(', ')}`, oneOfFlag(TICK_KINDS))
    .option('--verdict <VERDICT>', `One of ${TICK_VERDICTS.join(', ')}`, oneOfFlag(TICK_VERDICTS))
    .option('-n, --limit <NUMBER>', 'How many rows at most', countFlag(1, 200), 50);
  return command.action(async (name: string, { limit, key, kind, verdict }: TickFlags) => {
    const query = { key, kind, verdict, limit };
    const page = await connect(command).json(routes.listTicks, { params: { name }, query });
    const { json, quiet } = outputOf(command);
    if (json) return printJson(page.items);
    if (quiet) return print(page.items.map(({ scheduled_for }) => scheduled_for).join('\n'));
    print(page.items.length === 0 ? 'no ticks yet' : renderTable(TICK_COLUMNS, page.items, terminalWidth()));
    if (page.next_cursor !== null) note(`there are more: --limit ${Math.min(limit * 2, 200)}`);
  });
}
