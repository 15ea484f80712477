import { Argument, type Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { MadeToken, Token } from '../../api/token.ts';
import { TOKEN_ROLES } from '../../core/token.ts';
import { clientCommand, connect, outputOf, print, printData, refuseExtra, terminalWidth } from '../client-command.ts';
import { collectList, durationFlag, oneOfFlag } from '../flags/values.ts';
import { oneLine } from '../output/style.ts';
import { type Column, renderTable } from '../output/table.ts';
import { when } from '../output/when.ts';

const COLUMNS: readonly Column<Token>[] = [
  { title: 'TOKEN', text: (token) => oneLine(token.name), flexible: true },
  { title: 'ROLE', text: (token) => token.role },
  { title: 'QUEUES', text: (token) => token.queues?.join(',') ?? 'all' },
  { title: 'STATE', text: stateOf, format: (token) => (token.valid ? 'green' : 'gray') },
  { title: 'CREATED', text: (token) => when(token.created_at) },
  { title: 'BY', text: (token) => oneLine(token.created_by) },
  { title: 'EXPIRES', text: (token) => when(token.expires_at) },
  { title: 'LAST USED', text: (token) => when(token.last_used_at) },
];

/** `workron tokens`: lists them; `create`, `rotate` and `revoke` change them. */
export function tokensCommand(): Command {
  const command = clientCommand('tokens', 'List tokens of the API; create, rotate or revoke them').alias('token');
  command.allowExcessArguments().action(async () => {
    refuseExtra(command);
    await listTokens(command);
  });
  const ls = clientCommand('ls', 'List tokens, without the tokens themselves');
  command.addCommand(ls.action(() => listTokens(ls)));
  for (const child of [createCommand(), rotateCommand(), revokeCommand()]) command.addCommand(child);
  return command;
}

async function listTokens(command: Command): Promise<void> {
  const { items } = await connect(command).json(routes.listTokens);
  const { json, quiet } = outputOf(command);
  if (json) printData(items, json);
  else if (quiet) print(items.map((token) => `${token.name}\n`).join(''));
  else print(items.length === 0 ? 'no tokens' : renderTable(COLUMNS, items, terminalWidth()));
}

interface CreateOptions {
  role: string;
  queues?: string[];
  expires?: number;
}

function createCommand(): Command {
  const command = clientCommand('create', 'Create a token and print it, this once')
    .addArgument(new Argument('<name>', 'Name of the caller that uses the token'))
    .requiredOption('--role <ROLE>', `What it may do: ${TOKEN_ROLES.join(', ')}`, oneOfFlag(TOKEN_ROLES))
    .option('--queues <NAME,…>', 'The only queues that it may submit to or claim from', collectList)
    .option('--expires <DURATION>', 'How long it is valid, such as 90d; otherwise until it is revoked', durationFlag);
  return command.action(async (name: string, { role, queues, expires }: CreateOptions) => {
    const body = { name, role, ...(queues && { queues }), ...(expires !== undefined && { expires }) };
    show(command, await connect(command).json(routes.createToken, { body }));
  });
}

interface RotateOptions {
  overlap?: number;
  expires?: number;
}

function rotateCommand(): Command {
  const command = clientCommand(
    'rotate',
    'Create a second token with the same rights; the first stays valid for a while',
  )
    .addArgument(new Argument('<name>', 'Name of the token'))
    .option('--overlap <DURATION>', 'How long the old token stays valid (default: 24h)', durationFlag)
    .option('--expires <DURATION>', 'How long the new one is valid; otherwise as long as the old one', durationFlag);
  return command.action(async (name: string, { overlap, expires }: RotateOptions) => {
    const body = { ...(overlap !== undefined && { overlap }), ...(expires !== undefined && { expires }) };
    show(command, await connect(command).json(routes.rotateToken, { params: { name }, body }));
  });
}

function revokeCommand(): Command {
  const command = clientCommand('revoke', 'Revoke the tokens of these names, on every scheduler within seconds');
  return command.addArgument(new Argument('<name...>', 'Names of tokens')).action(async (names: string[]) => {
    const connection = connect(command);
    const { json, quiet } = outputOf(command);
    for (const name of names) {
      await connection.json(routes.revokeToken, { params: { name } });
      if (!json) print(quiet ? name : `token ${oneLine(name)} is revoked`);
    }
    if (json) printData(names, json);
  });
}

/** The token alone goes to stdout, so that it can be piped into a file. */
function show(command: Command, made: MadeToken): void {
  const { json } = outputOf(command);
  if (json) return printData(made, json);
  print(made.token);
  const until = made.expires_at === null ? 'until it is revoked' : `until ${made.expires_at}`;
  process.stderr.write(`token ${oneLine(made.name)} (${made.role}), valid ${until}; it is not shown again\n`);
}

function stateOf({ valid, revoked_at, replaced_at }: Token): string {
  if (valid) return replaced_at === null ? 'valid' : 'replaced';
  return revoked_at === null ? 'expired' : 'revoked';
}
