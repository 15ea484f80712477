import type { Command } from 'commander';
import type { JobDetail } from '../../api/job.ts';
import { clientCommand, connect, jobId, outputOf, print, printJson } from '../client-command.ts';
import { explain } from '../output/explain.ts';

/** `workron why ID`: one sentence on why the job is where it is. */
export function whyCommand(): Command {
  const command = clientCommand('why', 'Say why a job waits, or how it ended').argument('<id>', 'Job id');
  return command.action(async (text: string) => {
    const job = await connect(command).json<JobDetail>('GET', `/jobs/${jobId(text)}`);
    const { json, quiet } = outputOf(command);
    if (json) printJson(job);
    else print(quiet ? job.id : explain(job));
  });
}
