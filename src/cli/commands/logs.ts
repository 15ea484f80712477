import type { Command } from 'commander';
import { clientCommand, connect, jobId } from '../client-command.ts';
import { countFlag } from '../flags/values.ts';
import { followLog, printLog } from '../follow/log.ts';
import { withProgress } from '../follow/progress.ts';

interface LogOptions {
  follow?: boolean;
  attempt?: number;
  tail?: number;
  raw?: boolean;
}

/** `workron logs ID`: prints the output, byte for byte; on a terminal, control characters are made visible. */
export function logsCommand(): Command {
  const command = clientCommand('logs', 'Print the output of a job', { ids: false })
    .argument('<id>', 'Job id')
    .option('-f, --follow', 'Go on until the job has ended')
    .option(
      '--attempt <NUMBER>',
      'Of this attempt (default: the present or last one)',
      countFlag(1, Number.MAX_SAFE_INTEGER),
    )
    .option('--raw', 'Write the bytes to a terminal as they are, with all control characters')
    .option('--tail <LINES>', 'Only the last lines', countFlag(0, 1_000_000));
  return command.action(async (text: string, options: LogOptions) => {
    const request = { id: jobId(text), attempt: options.attempt, tail: options.tail, raw: options.raw };
    const connection = connect(command);
    if (!options.follow) return printLog(connection, request);
    await withProgress(connection, request.id, (line) => followLog(connection, { ...request, line }));
  });
}
