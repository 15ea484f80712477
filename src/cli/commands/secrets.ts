import { buffer } from 'node:stream/consumers';
import { Argument, type Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Secret } from '../../api/secret.ts';
import {
  changeEach,
  clientCommand,
  connect,
  outputOf,
  print,
  printData,
  refuseExtra,
  terminalWidth,
} from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { oneLine } from '../output/style.ts';
import { type Column, renderTable } from '../output/table.ts';
import { when } from '../output/when.ts';

const COLUMNS: readonly Column<Secret>[] = [
  { title: 'SECRET', text: (secret) => oneLine(secret.name), flexible: true },
  { title: 'KEY', text: (secret) => secret.key_id },
  {
    title: 'READABLE',
    text: (secret) => (secret.readable ? 'yes' : 'no'),
    format: ({ readable }) => (readable ? 'green' : 'red'),
  },
  { title: 'SET', text: (secret) => when(secret.updated_at) },
];

/** `workron secrets`: lists them; `set`, `rm` and `rotate` change them. No command shows a value. */
export function secretsCommand(): Command {
  const command = clientCommand('secrets', 'List secrets; set, delete or rotate them').alias('secret');
  command.allowExcessArguments().action(async () => {
    refuseExtra(command);
    await listSecrets(command);
  });
  const ls = clientCommand('ls', 'List secrets, without their values');
  command.addCommand(ls.action(() => listSecrets(ls)));
  for (const child of [setCommand(), rmCommand(), rotateCommand()]) command.addCommand(child);
  return command;
}

async function listSecrets(command: Command): Promise<void> {
  const { items } = await connect(command).json(routes.listSecrets);
  const { json, quiet } = outputOf(command);
  if (json) printData(items, json);
  else if (quiet) print(items.map((secret) => `${secret.name}\n`).join(''));
  else print(items.length === 0 ? 'no secrets' : renderTable(COLUMNS, items, terminalWidth()));
}

function setCommand(): Command {
  const command = clientCommand('set', 'Set a secret to what standard input contains, without a newline at its end');
  return command.addArgument(new Argument('<name>', 'Name of the secret')).action(async (name: string) => {
    if (process.stdin.isTTY)
      throw usageError('the value is read from standard input', `workron secrets set ${name} < file`);
    const bytes = await buffer(process.stdin);
    const value = bytes.toString('utf8').replace(/\r?\n$/, '');
    if (!Buffer.from(value).equals(bytes.subarray(0, Buffer.byteLength(value))))
      throw usageError('a secret is text in UTF-8');
    const secret = await connect(command).json(routes.setSecret, { params: { name }, body: { value } });
    const { json, quiet } = outputOf(command);
    if (json) printData(secret, json);
    else print(quiet ? secret.name : `secret ${secret.name} is set`);
  });
}

function rmCommand(): Command {
  const command = clientCommand('rm', 'Delete secrets; jobs that name them fail from then on');
  return command.argument('<name...>', 'Names of secrets').action((names: string[]) =>
    changeEach(command, names, {
      act: async (connection, name) => {
        await connection.json(routes.deleteSecret, { params: { name } });
        return name;
      },
      id: (name) => name,
      text: (name) => `secret ${oneLine(name)} is deleted`,
      listed: true,
    }),
  );
}

function rotateCommand(): Command {
  const command = clientCommand('rotate', 'Seal all secrets with the present key of the server');
  return command.action(async () => {
    const { rotated } = await connect(command).json(routes.rotateSecrets);
    const { json } = outputOf(command);
    if (json) printData({ rotated }, json);
    else
      print(rotated === 0 ? 'all secrets were sealed with the present key' : `${rotated} sealed with the present key`);
  });
}
