import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError } from 'commander';
import { readAuthority } from '../../ops/authority.ts';
import { serverUrl } from '../../ops/settings/parse.ts';
import { readPrivateFile } from '../../ops/settings/private-file.ts';
import { type Profile, profileName, profileNamed, readProfiles, writeProfiles } from '../../ops/settings/profile.ts';
import { clientCommand, outputCommand, outputOf, print, printData, refuseExtra } from '../client-command.ts';
import { usageError } from '../errors/cli-error.ts';
import { note } from '../errors/report.ts';
import { connectionFrom, orUsageError } from '../flags/setting.ts';
import type { Column } from '../output/table.ts';
import { listText } from '../output/table.ts';

interface ProfileRow {
  name: string;
  url: string;
  token_file: string | null;
  ca: string | null;
  in_use: boolean;
}

const COLUMNS: readonly Column<ProfileRow>[] = [
  { title: 'IN USE', text: ({ in_use }) => (in_use ? '*' : '') },
  { title: 'PROFILE', text: ({ name }) => name, identifies: true },
  { title: 'URL', text: ({ url }) => url, flexible: true },
  { title: 'TOKEN FILE', text: ({ token_file }) => token_file ?? '–', flexible: true },
];

const LISTING = {
  columns: COLUMNS,
  id: ({ name }: ProfileRow) => name,
  none: 'no profiles; workron config set NAME --url URL',
};

/** `workron config`: named servers of this user. It needs no server. */
export function configCommand(): Command {
  const command = outputCommand('config', 'List servers by name, and choose the one to use');
  command
    .aliases(['profiles', 'profile'])
    .allowExcessArguments()
    .action(() => {
      refuseExtra(command);
      listProfiles(command);
    });
  const ls = outputCommand('ls', 'List profiles');
  command.addCommand(ls.action(() => listProfiles(ls)));
  for (const child of [setCommand(), showCommand(), useCommand(), rmCommand()]) command.addCommand(child);
  return command;
}

function listProfiles(command: Command): void {
  print(listText(rows(), LISTING, outputOf(command)));
}

interface SetOptions {
  url?: string;
  tokenFile?: string;
  ca?: string;
}

function setCommand(): Command {
  const command = outputCommand('set', 'Create or change a profile')
    .addArgument(nameArgument('<name>'))
    .option('--url <URL>', 'Address of the server', flagParser(serverUrl))
    .option('--token-file <FILE>', 'File that holds its token, which only you may read; none for no token')
    .option('--ca <FILE>', 'Certificates of the only authorities to trust; none for the public ones');
  return command.action((name: string, { url, tokenFile, ca }: SetOptions) => {
    orUsageError(() => {
      const known = readProfiles(process.env);
      const before = known.profiles[name];
      const address = url ?? before?.url;
      if (address === undefined) throw usageError(`expected --url for the new profile "${name}"`);
      const tokenPath = pathOf(tokenFile, before?.tokenFile, (path) => readPrivateFile('--token-file', path));
      const profile: Profile = { url: address, tokenFile: tokenPath, ca: pathOf(ca, before?.ca, readAuthority) };
      writeProfiles(process.env, { ...known, profiles: { ...known.profiles, [name]: profile } });
      report(command, name, before === undefined ? `added profile ${name}` : `changed profile ${name}`);
      if (known.current === null) note(`workron config use ${name} makes commands talk to it`);
    });
  });
}

/** The file is read once, so that a mistake shows now. */
function pathOf(
  given: string | undefined,
  before: string | null = null,
  read: (path: string) => unknown,
): string | null {
  if (given === undefined) return before;
  if (given === 'none') return null;
  const path = resolve(given);
  read(path);
  return path;
}

function showCommand(): Command {
  const command = clientCommand('show', 'Show a profile, or the server that this call uses and why', { ids: false });
  return command.addArgument(nameArgument('[name]')).action((name: string | undefined) => {
    const { json } = outputOf(command);
    if (name !== undefined) {
      orUsageError(() => profileNamed(readProfiles(process.env), name, 'config show'));
      const row = rows().find((each) => each.name === name) as ProfileRow;
      if (json) return printData(row, json);
      const lines = [`profile     ${row.name}${row.in_use ? ' (in use)' : ''}`, `url         ${row.url}`];
      lines.push(`token file  ${row.token_file ?? '–'}`, ...(row.ca === null ? [] : [`ca          ${row.ca}`]));
      return print(lines.join('\n'));
    }
    const { url, addressFrom, tokenFrom } = connectionFrom(command);
    if (json) return printData({ url, url_from: addressFrom, token_from: tokenFrom }, json);
    print(`url    ${url} (from ${addressFrom})\ntoken  ${tokenFrom === null ? 'none given' : `from ${tokenFrom}`}`);
  });
}

function useCommand(): Command {
  const command = outputCommand('use', 'Use the server of this profile');
  const name = new Argument('<name>', 'Name of the profile; none for no profile').argParser((text: string) =>
    text === 'none' ? text : nameFrom(text),
  );
  return command.addArgument(name).action((chosen: string) => {
    orUsageError(() => {
      const known = readProfiles(process.env);
      const current = chosen === 'none' ? null : chosen;
      const url = current === null ? null : profileNamed(known, current, 'config use').url;
      writeProfiles(process.env, { ...known, current });
      report(command, chosen, url === null ? 'no profile is in use' : `commands now talk to ${url}`);
      if (process.env['WORKRON_URL']) note('WORKRON_URL is set, and comes first');
    });
  });
}

function rmCommand(): Command {
  const command = outputCommand('rm', 'Delete profiles; their token files stay');
  return command.addArgument(nameArgument('<name...>')).action((names: string[]) => {
    orUsageError(() => {
      const known = readProfiles(process.env);
      for (const name of names) profileNamed(known, name, 'config rm');
      const left = Object.entries(known.profiles).filter(([name]) => !names.includes(name));
      const current = names.includes(known.current ?? '') ? null : known.current;
      writeProfiles(process.env, { current, profiles: Object.fromEntries(left) });
      for (const name of names) report(command, name, `profile ${name} is deleted`);
    });
  });
}

function rows(): ProfileRow[] {
  const { current, profiles } = orUsageError(() => readProfiles(process.env));
  const all = Object.entries(profiles).sort(([a], [b]) => (a < b ? -1 : 1));
  return all.map(([name, { url, tokenFile, ca }]) => ({
    name,
    url,
    token_file: tokenFile,
    ca,
    in_use: name === current,
  }));
}

function report(command: Command, name: string, text: string): void {
  const { json, quiet } = outputOf(command);
  if (json) printData(rows().find((row) => row.name === name) ?? { name }, json);
  else print(quiet ? name : text);
}

function nameArgument(text: string): Argument {
  const argument = new Argument(text, 'Name of the profile');
  return argument.variadic
    ? argument.argParser((word: string, before: string[] | undefined) => [...(before ?? []), nameFrom(word)])
    : argument.argParser(nameFrom);
}

const nameFrom = flagParser(profileName);

/** Turns a parser of settings into one of Commander. */
function flagParser<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidArgumentError(`expected ${(error as Error).message}`);
    }
  };
}
