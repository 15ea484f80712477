import { Argument, type Command } from 'commander';
import type { Limit } from '../../api/capacity.ts';
import { routes } from '../../api/routes.ts';
import { addListing, clientCommand, connect, listCommand, outputOf, print, printData } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { countFlag } from '../flags/values.ts';
import { listText } from '../output/list.ts';
import { oneLine } from '../output/style.ts';
import type { Column } from '../output/table.ts';

const COLUMNS: readonly Column<Limit>[] = [
  { title: 'KEY', text: ({ key }) => oneLine(key), flexible: true, identifies: true },
  { title: 'SET', text: ({ max }) => String(max ?? '–'), align: 'right' },
  { title: 'RUNNING', text: ({ running }) => String(running), align: 'right' },
  { title: 'WAITING', text: ({ waiting }) => String(waiting), align: 'right' },
];

const LISTING = { columns: COLUMNS, id: ({ key }: Limit) => key, none: 'no limits' };

/** `workron limits`: lists the limits of keys; `set` and `rm` change them for all jobs. */
export function limitsCommand(): Command {
  const command = listCommand('limits', 'List the limits of keys; set them for all jobs').alias('limit');
  addListing(command, 'List limits of keys', async (called) => {
    const { items } = await connect(called).json(routes.listLimits);
    print(listText(items, LISTING, outputOf(called)));
  });
  const set = clientCommand('set', "Cap running jobs per key, overriding the jobs' own limits");
  set.option('--max <NUMBER>', 'Maximum running jobs, over all workers', countFlag(1, 1_000_000));
  command.addCommand(
    changing(set, async (key) => {
      const { max } = set.opts<{ max?: number }>();
      if (max === undefined) throw usageError('expected --max', 'workron limits set customer:42 --max 5');
      return await connect(set).json(routes.setLimit, { params: { key }, body: { max } });
    }),
  );
  const rm = clientCommand('rm', "Remove the override; the jobs' own limits apply");
  command.addCommand(changing(rm, async (key) => await connect(rm).json(routes.deleteLimit, { params: { key } })));
  return command;
}

function changing(command: Command, change: (key: string) => Promise<Limit>): Command {
  return command.addArgument(new Argument('<key...>', 'Keys')).action(async (keys: string[]) => {
    const { json, quiet } = outputOf(command);
    const changed: Limit[] = [];
    for (const key of keys) changed.push(await change(key));
    if (json) printData(changed.length === 1 ? changed[0] : changed, json);
    else for (const limit of changed) print(quiet ? limit.key : describe(limit));
  });
}

function describe({ key, max, running }: Limit): string {
  const limit = max === null ? 'the limit of each job counts' : `at most ${max} at once`;
  return `key ${oneLine(key)}: ${limit}, ${running} running`;
}
