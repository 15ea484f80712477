/** The common part of commands that call a running Workron. */

import { Command, Option } from 'commander';
import { didYouMean } from '../core/suggest.ts';
import { readAuthority } from '../ops/authority.ts';
import { findLocalServer } from '../ops/local-server.ts';
import { whyExposed } from '../ops/plain-http.ts';
import { Connection } from './connection.ts';
import { CliError, usageError } from './errors/cli-error.ts';
import { fieldName } from './errors/failure.ts';
import { note, reportError } from './errors/report.ts';
import { addSettingFlags, orUsageError, settingsFrom } from './flags/setting.ts';
import { collectList, oneOfFlag } from './flags/values.ts';
import { ALL_FIELDS } from './global-flags.ts';
import { jsonText, yamlText } from './output/json-text.ts';

/** How the objects of the API are printed, and which of their fields; `false`: as text for people. */
type DataFormat = { as: 'json' | 'yaml'; fields: readonly string[] | null } | false;

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

/** Groups of flags that all commands of a server have. The help prints them last. */
export const COMMON_GROUPS: readonly string[] = ['Output:', 'Connection:'];

export interface Output {
  /** Print the objects of the API. */
  json: DataFormat;
  /** Print ids only. */
  quiet: boolean;
  /** Print all columns of a table. */
  wide: boolean;
  /** Print these columns of a table; `null`: the usual ones. */
  columns: readonly string[] | null;
}

interface ClientFlags {
  /** False for commands that print no ids: `-q` is accepted, and not in the help. */
  ids?: boolean;
}

export function clientCommand(name: string, summary: string, flags: ClientFlags = {}): Command {
  const command = outputCommand(name, summary, flags).optionsGroup('Connection:');
  return addSettingFlags(command, 'client').optionsGroup('Options:');
}

/** A command that prints data and calls no server. */
export function outputCommand(name: string, summary: string, { ids = true }: ClientFlags = {}): Command {
  return new Command(name)
    .description(summary)
    .optionsGroup('Output:')
    .addOption(new Option('-o, --output <FORMAT>', `One of ${FORMATS.join(', ')}`).argParser(oneOfFlag(FORMATS)))
    .addOption(jsonOption())
    .addOption(new Option('-q, --quiet', 'Print ids only').hideHelp(!ids))
    .optionsGroup('Options:');
}

/** `--json`, or `--json id,status` for these fields alone: `withJsonFields` gives it a value. */
export function jsonOption(): Option {
  return new Option('--json [FIELD,…]', 'Print JSON; of these fields only').preset(ALL_FIELDS);
}

/** A command that prints a table. */
export function listCommand(name: string, summary: string): Command {
  return clientCommand(name, summary)
    .optionsGroup('Output:')
    .option('--columns <NAME,…>', 'Print these columns, in this order', collectList)
    .optionsGroup('Options:');
}

/** A process warns once. */
let hasWarned = false;

export function connect(command: Command): Connection {
  const { url, token, ca } = settingsFrom(command, 'client');
  const local = token === null ? findLocalServer(url) : null;
  // The socket needs no token, so none can reach another program that has taken the port.
  const access = local?.socket === null ? { token: local.token } : { token, socketPath: local?.socket };
  const exposed = whyExposed(url, access.token);
  if (exposed !== null && !hasWarned) note(`warning: ${exposed}`);
  hasWarned = true;
  const trusted = { ...access, ca: orUsageError(() => readAuthority(ca)) };
  return new Connection(url, trusted, (pointer) => fieldName(pointer, command));
}

export function outputOf(command: Command): Output {
  const flags = command.optsWithGlobals<{ json?: string; quiet?: boolean; output?: string; columns?: string[] }>();
  const { json, quiet = false, output, columns = null } = flags;
  if (json !== undefined && output !== undefined && output !== 'json')
    throw usageError(`expected --json or -o ${output}, not both`);
  const fields = json === undefined || json === ALL_FIELDS ? null : collectList(json, undefined);
  const as = json === undefined ? output : 'json';
  return { json: as === 'json' || as === 'yaml' ? { as, fields } : false, quiet, wide: as === 'wide', columns };
}

/** Accepts `12`, and `#12` as people write it. */
export function jobId(text: string): string {
  return idFrom(text) ?? refuseId(text, 'job', 'workron jobs');
}

export function workflowId(text: string): string {
  return idFrom(text) ?? refuseId(text, 'workflow', 'workron workflow ls');
}

export function workerId(text: string): string {
  return idFrom(text) ?? refuseId(text, 'worker', 'workron workers');
}

function idFrom(text: string): string | undefined {
  return /^#?([1-9]\d{0,15})$/.exec(text)?.[1];
}

function refuseId(text: string, noun: string, list: string): never {
  throw usageError(`"${text}" is not a ${noun} id`, `${list} lists them`);
}

/** For commands that list and also have subcommands: an unknown word is refused with a suggestion. */
export function refuseExtra(command: Command): void {
  const [word] = command.args;
  if (word === undefined) return;
  const known = command.commands.map((child) => child.name());
  throw usageError(
    `unknown command '${command.name()} ${word}'`,
    didYouMean(word, known) ?? `known are ${known.join(', ')}`,
  );
}

/** Makes a command list: by itself, and as `ls`. */
export function addListing(command: Command, summary: string, list: (called: Command) => Promise<void>): Command {
  command.allowExcessArguments().action(async () => {
    refuseExtra(command);
    await list(command);
  });
  const ls = listCommand('ls', summary);
  return command.addCommand(ls.action(() => list(ls)));
}

export function printData(value: unknown, format: DataFormat): void {
  print(dataText(value, format));
}

export function dataText(value: unknown, format: DataFormat): string {
  const { as, fields } = format || { as: 'json', fields: null };
  const chosen = fields === null ? value : withFields(value, fields);
  return as === 'yaml' ? yamlText(chosen) : `${jsonText(chosen, process.stdout.isTTY ? 2 : undefined)}\n`;
}

/** Each object with these fields only. Throws a usage error for a field that none of them has. */
function withFields(value: unknown, fields: readonly string[]): unknown {
  const list = (Array.isArray(value) ? value : [value]) as Record<string, unknown>[];
  const known = [...new Set(list.flatMap((each) => Object.keys(each)))];
  const wrong = list.length === 0 ? undefined : fields.find((field) => !known.includes(field));
  if (wrong !== undefined)
    throw usageError(
      `--json: there is no field "${wrong}"`,
      didYouMean(wrong, known) ?? `known are ${known.join(', ')}`,
    );
  const chosen = list.map((each) => Object.fromEntries(fields.map((field) => [field, each[field] ?? null])));
  return Array.isArray(value) ? chosen : chosen[0];
}

interface Change<T> {
  act(connection: Connection, name: string): Promise<T>;
  /** What `-q` prints. */
  id(changed: T): string;
  text(changed: T): string;
  /** JSON is an array even for one name. */
  listed?: boolean;
}

/** Changes what the names name. All are tried; the first error decides the exit code. */
export async function changeEach<T>(command: Command, names: readonly string[], change: Change<T>): Promise<void> {
  const connection = connect(command);
  const { json, quiet } = outputOf(command);
  const changed: T[] = [];
  for (const name of names) {
    try {
      changed.push(await change.act(connection, name));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      reportError(error, json !== false);
      process.exitCode ??= error.exitCode;
    }
  }
  if (!json) for (const one of changed) print(quiet ? change.id(one) : change.text(one));
  else if (names.length > 1 || change.listed) printData(changed, json);
  else if (changed[0] !== undefined) printData(changed[0], json);
}

export function print(text: string): void {
  process.stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`);
}

/** Returns the width of the terminal; `undefined` in a pipe, where nothing is cut. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}
