import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, jobId, outputOf, print, printJson } from '../client-command.ts';
import { explain } from '../explain.ts';

/** `workron why ID`: one sentence on why the job is where it is. */
export function whyCommand(): Command {
  const command = clientCommand('why', 'Say why a job waits, or how it ended').argument('<id>', 'Job id');
  return command.action(async (text: string) => {
    const job = await connect(command).json(routes.readJob, { params: { id: jobId(text) } });
    const { json, quiet } = outputOf(command);
    if (json) printJson(job);
    else print(quiet ? job.id : explain(job));
  });
}
