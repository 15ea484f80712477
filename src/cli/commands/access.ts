/** Who may call a server, and who did: tokens, logins, the audit. */

import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import type { AuditEntry } from '../../api/audit.ts';
import { PAGE_PATH, routes } from '../../api/routes.ts';
import type { MadeToken, Token } from '../../api/token.ts';
import { decisionText } from '../../api/words/decision.ts';
import { socketIn } from '../../core/socket-address.ts';
import { TOKEN_ROLES } from '../../core/token.ts';
import { version } from '../../node/version.ts';
import { browserUrl, findLocalServer } from '../../ops/local-server.ts';
import {
  addListing,
  changeEach,
  clientCommand,
  connect,
  jobId,
  jsonOption,
  listCommand,
  outputOf,
  print,
  printData,
} from '../client-command.ts';
import { note } from '../errors/report.ts';
import { settingsFrom } from '../flags/setting.ts';
import { collectList, countFlag, durationFlag, oneOfFlag, pastFlag } from '../flags/values.ts';
import { jsonText } from '../output/json-text.ts';
import { oneLine } from '../output/style.ts';
import { type Column, printList } from '../output/table.ts';
import { when } from '../output/when.ts';

const TOKEN_COLUMNS: readonly Column<Token>[] = [
  { title: 'TOKEN', text: (token) => oneLine(token.name), flexible: true, identifies: true },
  { title: 'ROLE', text: (token) => token.role },
  { title: 'QUEUES', text: (token) => token.queues?.join(',') ?? 'all' },
  { title: 'STATE', text: stateOf, format: (token) => (token.valid ? 'green' : 'gray') },
  { title: 'CREATED', text: (token) => when(token.created_at) },
  { title: 'BY', text: (token) => oneLine(token.created_by) },
  { title: 'EXPIRES', text: (token) => when(token.expires_at) },
  { title: 'LAST USED', text: (token) => when(token.last_used_at) },
];

const TOKENS = { columns: TOKEN_COLUMNS, id: ({ name }: Token) => name, none: 'no tokens' };

/** `workron tokens`: lists them; `create`, `rotate` and `revoke` change them. */
export function tokensCommand(): Command {
  const command = listCommand('tokens', 'List tokens of the API; create, rotate or revoke them').alias('token');
  addListing(command, 'List tokens, without the tokens themselves', async (called) => {
    const { items } = await connect(called).json(routes.listTokens);
    printList(items, TOKENS, outputOf(called));
  });
  return command.addCommand(createCommand()).addCommand(rotateCommand()).addCommand(revokeCommand());
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
  return command.argument('<name...>', 'Names of tokens').action((names: string[]) =>
    changeEach(command, names, {
      act: async (connection, name) => {
        await connection.json(routes.revokeToken, { params: { name } });
        return name;
      },
      id: (name) => name,
      text: (name) => `token ${oneLine(name)} is revoked`,
      listed: true,
    }),
  );
}

function show(command: Command, made: MadeToken): void {
  const { json } = outputOf(command);
  if (json) return printData(made, json);
  print(made.token);
  const end = made.expires_at === null ? 'never expires' : `expires ${made.expires_at}`;
  note(`token ${oneLine(made.name)} (${made.role}) ${end}; copy it now, it won't be shown again`);
}

function stateOf({ valid, revoked_at, replaced_at }: Token): string {
  if (valid) return replaced_at === null ? 'valid' : 'replaced';
  return revoked_at === null ? 'expired' : 'revoked';
}

/** `workron auth`: access for programs other than this one. */
export function authCommand(): Command {
  const command = new Command('auth').description('Log in with curl or a browser');
  const header = clientCommand('header', 'Print the header with the token, for curl -H "$(workron auth header)"', {
    ids: false,
  });
  header.action(async () => {
    const { url, token } = settingsFrom(header, 'client');
    const known = token ?? findLocalServer(url)?.token ?? null;
    // Only a server that needs none may be called without: any other refuses, or does not answer, and the error says so.
    if (known === null) await connect(header).json(routes.readRoot);
    print(known === null ? 'x-workron: no-token' : `authorization: Bearer ${known}`);
  });
  const link = clientCommand('link', 'Print a link to the dashboard that logs in, once, within ten minutes', {
    ids: false,
  });
  link.action(async () => {
    const { url } = settingsFrom(link, 'client');
    const { path } = await connect(link).json(routes.createLink);
    // The address of the dashboard is not known over a socket.
    print(socketIn(url) === undefined ? browserUrl(url).replace(/\/+$/, '') + path : path);
  });
  return command.addCommand(header).addCommand(link);
}

/** The programs that open an address in the browser. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' };

/** `workron open [ID]`: opens the dashboard in the browser; on the machine of a server of this user, logged in. */
export function openCommand(): Command {
  const command = clientCommand('open', 'Open the dashboard, or a job in it, in the browser, logged in')
    .argument('[id]', 'Job id')
    .option('--print', 'Only print the address');
  return command.action(async (id: string | undefined, { print: only = false }: { print?: boolean }) => {
    const { url } = settingsFrom(command, 'client');
    const page = `${browserUrl(url)}${PAGE_PATH}/${id === undefined ? '' : `jobs/${jobId(id)}`}`;
    if (only || !process.stdout.isTTY) return print(page);
    const local = findLocalServer(url);
    const address =
      local === null ? page : `${page}#${(await connect(command).json(routes.createLink)).path.split('#')[1]}`;
    print(address);
    const opener = OPENERS[process.platform];
    if (opener === undefined) return;
    const opened = local === null ? address : fileThatOpens(address, local.folder);
    const child = spawn(opener, [opened], { stdio: 'ignore', detached: true });
    // The address is printed; a machine without a browser is not an error.
    child.on('error', () => undefined);
    child.unref();
  });
}

/** Other users see the arguments of a process, and whoever opens the link first is logged in: so the browser gets a file. */
function fileThatOpens(address: string, folder: string): string {
  const file = join(folder, 'open.html');
  rmSync(file, { force: true });
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0;url=${address}">\n`, {
    mode: 0o600,
    flag: 'wx',
  });
  return file;
}

/** `workron version`: the version of this program, and of Node. */
export function versionCommand(): Command {
  const command = new Command('version')
    .description('Print the version of workron and of Node')
    .addOption(jsonOption());
  return command.action(() => {
    const versions = { workron: version, node: process.versions.node };
    const { json } = outputOf(command);
    if (json) printData(versions, json);
    else print(`workron ${versions.workron}, Node ${versions.node}`);
  });
}

const AUDIT_COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'ID', text: ({ id }) => id, identifies: true },
  { title: 'WHEN', text: ({ at }) => when(at) },
  { title: 'WHO', text: ({ actor }) => oneLine(actor), identifies: true },
  { title: 'FROM', text: ({ address }) => oneLine(address) },
  { title: 'WHAT', text: (entry) => oneLine(decisionText(entry)), flexible: true, identifies: true },
  { title: 'RESULT', text: ({ result }) => result ?? 'unknown' },
];

const AUDIT_LISTING = { columns: AUDIT_COLUMNS, id: ({ id }: AuditEntry) => id, none: 'no decisions' };
const AUDIT_PAGE = 200;

interface AuditFlags {
  actor?: string;
  subject?: string;
  partOf?: string;
  since?: string;
  until?: string;
  limit: number;
  jsonLines?: boolean;
}

/** `workron audit`: who decided what. */
export function auditCommand(): Command {
  const command = listCommand('audit', 'List decisions: who, when, from where, what and the result')
    .option('--actor <NAME>', 'Decisions of this caller only')
    .option('--subject <TEXT>', 'Those about this, such as job/12, queue/mail, or a part of it')
    .option('--part-of <ID>', 'The jobs that this bulk action changed')
    .option('--since <TIME>', 'From this instant, or this long ago', pastFlag)
    .option('--until <TIME>', 'Before this instant, or this long ago', pastFlag)
    .option('-n, --limit <NUMBER>', 'At most this many entries', countFlag(1, 1_000_000), 50)
    .option('--json-lines', 'Print all that match, one JSON object per line');
  return command.action(async ({ since: from, until: to, limit, jsonLines, partOf, ...asked }: AuditFlags) => {
    const connection = connect(command);
    const entries: AuditEntry[] = [];
    const most = jsonLines ? Number.POSITIVE_INFINITY : limit;
    let seen = 0;
    let cursor: string | undefined;
    do {
      const about = { actor: asked.actor, subject: asked.subject, part_of: partOf };
      const query = { ...about, from, to, limit: Math.min(AUDIT_PAGE, most - seen), cursor };
      const page = await connection.json(routes.listAudit, { query });
      if (jsonLines) print(page.items.map((entry) => `${jsonText(entry)}\n`).join(''));
      else entries.push(...page.items);
      seen += page.items.length;
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined && seen < most);
    if (!jsonLines) printList(entries, AUDIT_LISTING, outputOf(command));
  });
}
