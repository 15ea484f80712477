/** What jobs leave behind: output and checkpoints. */

import { once } from 'node:events';
import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { didYouMean } from '../../core/suggest.ts';
import { clientCommand, connect, jobId, workflowId } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError, EXIT } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { countFlag } from '../flags/values.ts';
import { followLog, printLog } from '../follow/log.ts';
import { withProgress } from '../follow/progress.ts';
import { TerminalText } from '../output/terminal-text.ts';

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
    .argument('<id...>', 'Job ids, or WORKFLOW/STEP; with several, each line begins with the id of its job')
    .option('-f, --follow', 'Follow the output until the job ends')
    .option('--attempt <NUMBER>', 'Attempt to print (default: the latest)', countFlag(1, Number.MAX_SAFE_INTEGER))
    .option('--raw', 'Write the bytes as they are, with all control characters')
    .option('--tail <LINES>', 'Only the last lines', countFlag(0, 1_000_000))
    .option('--timestamps', 'Begin each line with the time at which the server received it');
  return command.action(async (texts: string[], options: LogOptions) => {
    const connection = connect(command);
    const ids: string[] = [];
    for (const text of texts) ids.push(text.includes('/') ? await stepJob(connection, text) : jobId(text));
    const [id = '', ...others] = ids;
    const { attempt, tail, raw, timestamps } = options;
    const request = { id, attempt, tail, raw, timestamps, cautious: true };
    if (others.length > 0) return printTogether(connection, new Map(ids.map((each) => [each, each])), options);
    if (!options.follow) return printLog(connection, request);
    await withProgress(connection, id, (line) => followLog(connection, { ...request, line }));
  });
}

/** The job of `12/load`: the step of a workflow. */
async function stepJob(connection: Connection, text: string): Promise<string> {
  const [workflow = '', ...rest] = text.split('/');
  const id = workflowId(workflow);
  const { steps } = await connection.json(routes.readWorkflow, { params: { id } });
  const key = rest.join('/');
  const step = steps.find((each) => each.key === key);
  if (step !== undefined) return step.job_id;
  const keys = steps.map((each) => each.key);
  throw new CliError(EXIT.notFound, `workflow ${id} has no step "${key}"`, {
    hint: didYouMean(key, keys) ?? `its steps are ${keys.slice(0, MAX_KEYS).join(', ')}`,
  });
}

const MAX_KEYS = 20;

/** `workron workflow logs ID`: the output of its steps, each line with the key of its step. */
export function workflowLogsCommand(): Command {
  const command = clientCommand('logs', 'Print the output of the steps of a workflow', { ids: false })
    .argument('<id>', 'Workflow id')
    .option('--failed', 'Only of steps that failed')
    .option('-f, --follow', 'Follow the output until the steps end')
    .option('--tail <LINES>', 'Only the last lines of each step', countFlag(0, 1_000_000))
    .option('--timestamps', 'Begin each line with the time at which the server received it');
  return command.action(async (text: string, options: LogOptions & { failed?: boolean }) => {
    const connection = connect(command);
    const { steps } = await connection.json(routes.readWorkflow, { params: { id: workflowId(text) } });
    const wanted = steps.filter(
      ({ status, group }) =>
        group === null && (options.failed ? status === 'failed' : options.follow || status !== 'skipped'),
    );
    if (wanted.length === 0) return note(options.failed ? 'no step has failed' : 'no step has run');
    await printTogether(connection, new Map(wanted.map(({ job_id, key }) => [job_id, key])), options);
  });
}

/** One after the other; followed, as they come. Each line begins with the name of its job. */
async function printTogether(
  connection: Connection,
  names: ReadonlyMap<string, string>,
  options: LogOptions,
): Promise<void> {
  const { follow, attempt, tail, raw, timestamps } = options;
  const ids = [...names.keys()];
  const width = Math.max(...[...names.values()].map((name) => name.length));
  const request = (id: string) => ({
    id,
    attempt,
    tail,
    raw,
    timestamps,
    cautious: true,
    prefix: `${(names.get(id) as string).padStart(width)} | `,
  });
  if (follow) await Promise.all(ids.map((id) => followLog(connection, request(id))));
  else for (const id of ids) await printLog(connection, request(id));
}

/** A job that runs may replace its checkpoint while it is read. */
const TRIES = 5;

/** `workron checkpoint …` */
export function checkpointCommand(): Command {
  return new Command('checkpoint').description('Read the checkpoint of a job').addCommand(getCommand());
}

/** `workron checkpoint get ID > FILE` */
function getCommand(): Command {
  const command = clientCommand('get', 'Write the checkpoint of a job to standard output, byte for byte').argument(
    '<id>',
    'Job id',
  );
  return command.action(async (text: string) => {
    const data = await read(connect(command), jobId(text));
    const shown = process.stdout.isTTY ? new TerminalText() : null;
    if (!process.stdout.write(shown === null ? data : shown.push(data) + shown.end()))
      await once(process.stdout, 'drain');
  });
}

/** Nothing is written before all of it is there. */
async function read(connection: Connection, id: string): Promise<Buffer> {
  for (let tried = 1; ; tried += 1) {
    const { body } = await connection.open(routes.readCheckpoint, { params: { id } });
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of body) chunks.push(chunk);
      return Buffer.concat(chunks);
    } catch (error) {
      if (tried < TRIES) continue;
      throw new CliError(EXIT.unreachable, `the connection broke: ${(error as Error).message}`);
    }
  }
}
