import type { Command } from 'commander';
import { clientCommand, connect, jobId } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { countFlag } from '../flags/values.ts';
import { followLog, printLog } from '../follow/log.ts';
import { withProgress } from '../follow/progress.ts';

interface LogOptions {
  follow?: boolean;
  attempt?: number;
  tail?: number;
  raw?: boolean;
  timestamps?: boolean;
}

/** `workron logs ID…`: prints the output, byte for byte; where a terminal may show it, control characters are made visible. */
export function logsCommand(): Command {
  const command = clientCommand('logs', 'Print the output of jobs', { ids: false })
    .argument('<id...>', 'Job ids; with several, each line begins with the id of its job')
    .option('-f, --follow', 'Follow the output until the job ends')
    .option('--attempt <NUMBER>', 'Attempt to print (default: the latest)', countFlag(1, Number.MAX_SAFE_INTEGER))
    .option('--raw', 'Write the bytes as they are, with all control characters')
    .option('--tail <LINES>', 'Only the last lines', countFlag(0, 1_000_000))
    .option('--timestamps', 'Begin each line with the time at which the server received it');
  return command.action(async (texts: string[], options: LogOptions) => {
    const [id = '', ...others] = texts.map(jobId);
    const { attempt, tail, raw, timestamps } = options;
    const request = { id, attempt, tail, raw, timestamps, cautious: true };
    const connection = connect(command);
    if (others.length > 0) return printTogether(connection, [id, ...others], options);
    if (!options.follow) return printLog(connection, request);
    await withProgress(connection, id, (line) => followLog(connection, { ...request, line }));
  });
}

/** One after the other; followed, as they come. */
async function printTogether(connection: Connection, ids: readonly string[], options: LogOptions): Promise<void> {
  const { follow, attempt, tail, raw, timestamps } = options;
  const width = Math.max(...ids.map((id) => id.length));
  const request = (id: string) => ({
    id,
    attempt,
    tail,
    raw,
    timestamps,
    cautious: true,
    prefix: `${id.padStart(width)} | `,
  });
  if (follow) await Promise.all(ids.map((id) => followLog(connection, request(id))));
  else for (const id of ids) await printLog(connection, request(id));
}
