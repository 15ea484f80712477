import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { ScheduleDetail, SchedulePage } from '../../api/schedule.ts';
import { connect, listCommand, outputOf, print } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { countFlag } from '../flags/values.ts';
import { listText } from '../output/list.ts';
import { SCHEDULE_COLUMNS } from '../output/schedule.ts';

const MAX_PAGE_SIZE = 200;

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
    const output = outputOf(command);
    const schedules: ScheduleDetail[] = [];
    let cursor: string | undefined;
    do {
      const size = Math.min(MAX_PAGE_SIZE, limit - schedules.length);
      const query = { q: text, owner, limit: size, cursor };
      const page: SchedulePage = await connect(command).json(routes.listSchedules, { query });
      schedules.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && schedules.length < limit);
    print(listText(schedules, LISTING, output));
    if (cursor !== undefined && !output.json && !output.quiet)
      note(`showing ${schedules.length}; use --limit to see more`);
  });
}
