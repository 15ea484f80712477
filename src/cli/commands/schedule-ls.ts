import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Schedule, SchedulePage } from '../../api/schedule.ts';
import { clientCommand, connect, outputOf, print, printJson, terminalWidth } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { countFlag } from '../flags/values.ts';
import { SCHEDULE_COLUMNS } from '../output/schedule.ts';
import { renderTable } from '../output/table.ts';

const MAX_PAGE_SIZE = 200;

interface Flags {
  owner?: string;
  limit: number;
}

/** `workron schedule ls [TEXT]`: lists schedules by name. */
export function scheduleLsCommand(): Command {
  const command = clientCommand('ls', 'List schedules by name')
    .argument('[text]', 'Part of the name')
    .option('--owner <NAME>', 'Of this owner')
    .option('-n, --limit <NUMBER>', 'How many at most', countFlag(1, 1_000_000), 50);
  return command.action(async (text: string | undefined, { owner, limit }: Flags) => {
    const { json, quiet } = outputOf(command);
    const schedules: Schedule[] = [];
    let cursor: string | undefined;
    do {
      const size = Math.min(MAX_PAGE_SIZE, limit - schedules.length);
      const query = { q: text, owner, limit: size, cursor };
      const page: SchedulePage = await connect(command).json(routes.listSchedules, { query });
      schedules.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && schedules.length < limit);
    if (json) return printJson(schedules);
    if (quiet) {
      process.stdout.write(schedules.map(({ name }) => `${name}\n`).join(''));
      return;
    }
    print(schedules.length === 0 ? 'no schedules' : renderTable(SCHEDULE_COLUMNS, schedules, terminalWidth()));
    if (cursor !== undefined) note(`there are more: --limit ${limit * 2}`);
  });
}
