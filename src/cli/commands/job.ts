import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import { describeJob } from '../output/job.ts';

/** Prints all details of a job. */
export function jobShowCommand(name: string): Command {
  const command = clientCommand(name, 'Show one job with its attempts').argument('<id>', 'Job id');
  return command.action(async (text: string) => {
    const id = jobId(text);
    const connection = connect(command);
    const output = outputOf(command);
    const job = await connection.json(routes.readJob, { params: { id } });
    if (output.json) return printData(job, output.json);
    if (output.quiet) return print(job.id);
    const { items } = await connection.json(routes.listAttempts, { params: { id } });
    print(describeJob(job, items));
  });
}
