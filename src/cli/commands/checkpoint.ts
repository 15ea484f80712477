import { once } from 'node:events';
import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, jobId } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError } from '../errors/cli-error.ts';
import { EXIT } from '../errors/exit-code.ts';
import { TerminalText } from '../output/terminal-text.ts';

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
