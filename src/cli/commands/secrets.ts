import { buffer } from 'node:stream/consumers';
import { Argument, type Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Secret } from '../../api/secret.ts';
import {
  addListing,
  changeEach,
  clientCommand,
  connect,
  listCommand,
  outputOf,
  print,
  printData,
} from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { oneLine } from '../output/style.ts';
import { type Column, printList } from '../output/table.ts';
import { when } from '../output/when.ts';

const COLUMNS: readonly Column<Secret>[] = [
  { title: 'SECRET', text: (secret) => oneLine(secret.name), flexible: true, identifies: true },
  { title: 'KEY', text: (secret) => secret.key_id },
  {
    title: 'READABLE',
    text: (secret) => (secret.readable ? 'yes' : 'no'),
    format: ({ readable }) => (readable ? 'green' : 'red'),
  },
  { title: 'SET', text: (secret) => when(secret.updated_at) },
];

const LISTING = { columns: COLUMNS, id: ({ name }: Secret) => name, none: 'no secrets' };

/** `workron secrets`: lists them; `set`, `rm` and `rotate` change them. No command shows a value. */
export function secretsCommand(): Command {
  const command = listCommand('secrets', 'List secrets; set, delete or rotate them').alias('secret');
  addListing(command, 'List secrets, without their values', async (called) => {
    const { items } = await connect(called).json(routes.listSecrets);
    printList(items, LISTING, outputOf(called));
  });
  return command.addCommand(setCommand()).addCommand(rmCommand()).addCommand(rotateCommand());
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
