import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import { oneLine } from '../output/style.ts';
import { clock, withMoments } from '../output/when.ts';

/** `workron history ID`: prints what has happened to a job, one line per event. */
export function historyCommand(): Command {
  const command = clientCommand('history', 'Show the history of a job, oldest first', { ids: false }).argument(
    '<id>',
    'Job id',
  );
  return command.action(async (text: string) => {
    const { items } = await connect(command).json(routes.listHistory, { params: { id: jobId(text) } });
    const { json } = outputOf(command);
    if (json) printData(items, json);
    else for (const { at, text } of items) print(`${clock(at)}  ${oneLine(withMoments(text))}`);
  });
}
