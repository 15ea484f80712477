import type { Command } from 'commander';
import type { AuditEntry } from '../../api/audit.ts';
import { routes } from '../../api/routes.ts';
import { connect, listCommand, outputOf, print } from '../client-command.ts';
import { countFlag, pastFlag } from '../flags/values.ts';
import { jsonText } from '../output/json-text.ts';
import { listText } from '../output/list.ts';
import { oneLine } from '../output/style.ts';
import type { Column } from '../output/table.ts';
import { when } from '../output/when.ts';

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'WHEN', text: ({ at }) => when(at) },
  { title: 'WHO', text: ({ actor }) => oneLine(actor), identifies: true },
  { title: 'FROM', text: ({ address }) => oneLine(address) },
  {
    title: 'WHAT',
    text: ({ action, path }) => oneLine(`${action.split(' ', 1)[0]} ${path}`),
    flexible: true,
    identifies: true,
  },
  { title: 'RESULT', text: ({ status }) => (status === null ? 'unknown' : String(status)), align: 'right' },
];

const LISTING = { columns: COLUMNS, id: ({ id }: AuditEntry) => id, none: 'no changes' };
const PAGE = 200;

interface AuditFlags {
  actor?: string;
  path?: string;
  since?: string;
  until?: string;
  limit: number;
  jsonLines?: boolean;
}

/** `workron audit`: who changed what. */
export function auditCommand(): Command {
  const command = listCommand('audit', 'List changes: who, when, from where, what and the result')
    .option('--actor <NAME>', 'Changes of this caller only')
    .option('--path <TEXT>', 'Changes whose path contains this, such as /jobs/12')
    .option('--since <TIME>', 'From this instant, or this long ago', pastFlag)
    .option('--until <TIME>', 'Before this instant, or this long ago', pastFlag)
    .option('-n, --limit <NUMBER>', 'At most this many entries', countFlag(1, 1_000_000), 50)
    .option('--json-lines', 'Print all that match, one JSON object per line');
  return command.action(async ({ actor, path, since: from, until: to, limit, jsonLines }: AuditFlags) => {
    const connection = connect(command);
    const entries: AuditEntry[] = [];
    const most = jsonLines ? Number.POSITIVE_INFINITY : limit;
    let seen = 0;
    let cursor: string | undefined;
    do {
      const query = { actor, path, from, to, limit: Math.min(PAGE, most - seen), cursor };
      const page = await connection.json(routes.listAudit, { query });
      if (jsonLines) print(page.items.map((entry) => `${jsonText(entry)}\n`).join(''));
      else entries.push(...page.items);
      seen += page.items.length;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && seen < most);
    if (!jsonLines) print(listText(entries, LISTING, outputOf(command)));
  });
}
