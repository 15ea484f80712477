import { type Command, Option } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, jobId, outputOf, print, printData } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { collectList, durationFlag, instantFlag, integerFlag } from '../flags/values.ts';

/** `workron edit ID --priority 5`: changes a job that still waits. */
export function editCommand(): Command {
  const command = clientCommand('edit', 'Change a waiting job')
    .argument('<id>', 'Job id')
    .option('-p, --priority <NUMBER>', 'Jobs with a higher priority run first', integerFlag)
    .option('--queue <NAME>', 'Move it to this queue')
    .option('--at <INSTANT>', 'Start at this time', instantFlag)
    .addOption(new Option('--delay <DURATION>', 'Start after this delay').argParser(durationFlag).conflicts('at'))
    .option('--timeout <DURATION>', 'Stop an attempt that takes longer than this')
    .option('--max-attempts <NUMBER>', 'Fail the job after this many failed attempts', integerFlag)
    .option('--tag <TAG,…>', 'Replace the tags of the job', collectList);
  return command.action(async (text: string, options: EditOptions) => {
    const edit = {
      priority: options.priority,
      queue: options.queue,
      run_at: options.at,
      delay: options.delay,
      timeout: options.timeout,
      max_attempts: options.maxAttempts,
      tags: options.tag,
    };
    if (Object.values(edit).every((value) => value === undefined)) {
      throw usageError('expected something to change', 'workron edit 12 --priority 10');
    }
    const job = await connect(command).json(routes.editJob, { params: { id: jobId(text) }, body: edit });
    const { json, quiet } = outputOf(command);
    if (json) printData(job, json);
    else print(quiet ? job.id : `job ${job.id} changed`);
  });
}

interface EditOptions {
  priority?: number;
  queue?: string;
  at?: string;
  delay?: number;
  timeout?: string;
  maxAttempts?: number;
  tag?: string[];
}
