/**
 * Loads the settings of one command: the flag wins over `WORKRON_…`, that over the file, that over the default. The profile in use
 * comes after a file that was named, and before one that merely lies in the working directory.
 */

import { didYouMean } from '../../core/suggest.ts';
import { SettingsError } from './error.ts';
import { readSettingsFile, type SettingsFile } from './file.ts';
import { readPrivateFile } from './private-file.ts';
import { type Given, RANKS, withProfile } from './profile-choice.ts';
import {
  envName,
  type Role,
  SETTINGS,
  type Setting,
  type SettingCommand,
  type SettingKey,
  type Settings,
  settingsOf,
} from './settings.ts';
import { chooseStore, wantsMachineDatabase } from './store.ts';
import { checkTrust } from './trust.ts';

/** Variables of ours that are not settings. */
const OTHER_VARIABLES = ['WORKRON_CONFIG'];
/** Variables that only the tests read. */
const TEST_PREFIX = 'WORKRON_TEST_';

/** Settings whose values must not appear in messages. */
const SECRETIVE = /^(token|db-|notify$|notify-secret)/;

export interface SettingsSources {
  command: SettingCommand;
  /** By name, as typed; the values of a repeated flag are joined by commas. */
  flags: Readonly<Record<string, string>>;
  env: Readonly<Record<string, string | undefined>>;
  /** The value of `--config`. */
  configFile?: string | undefined;
}

/** Throws `SettingsError` for anything unknown, malformed or contradictory. */
export function loadSettings(sources: SettingsSources): Settings {
  refuseUnknownVariables(sources.env);
  const given = givenSettings(sources);
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS) as [SettingKey, Setting<unknown>][]) {
    const found = given[key];
    values[key] = found === undefined ? setting.default : parse(setting, found);
  }
  checkTrust(given);
  if (values['token'] === null) values['token'] = readToken(values['tokenFile'] as string | null);
  else values['tokenFile'] = null;

  const plain = values as Omit<Settings, 'store'>;
  const ignored = given.dbUrl?.from === SETTINGS.dbUrl.fallback && !wantsMachineDatabase(plain);
  const dbUrl = ignored ? null : plain.dbUrl;
  const settings: Settings = { ...plain, dbUrl, store: chooseStore(dbUrl, plain.dbDriver) };
  checkSettings(settings, sources.command);
  return settings;
}

/** The settings that this call was given, each by the source that wins. Address and token may be those of a profile. */
export function givenSettings(sources: SettingsSources): Partial<Record<SettingKey, Given>> {
  const file = readSettingsFile(sources.configFile ?? (sources.env['WORKRON_CONFIG'] || undefined));
  const given: Partial<Record<SettingKey, Given>> = {};
  for (const [key, setting] of settingsOf(sources.command)) {
    const found = find(setting, sources, file);
    if (found !== undefined) given[key] = found;
  }
  if (sources.command !== 'client') return given;
  const local = given.url === undefined ? localUrl(sources, file) : undefined;
  if (local !== undefined) given.url = local;
  return withProfile(given, sources.env);
}

/** Where a server with the same variables and file listens; `undefined` if they do not say so, or name the default. */
function localUrl({ env }: SettingsSources, file: SettingsFile): Given | undefined {
  const sources: SettingsSources = { command: 'up', flags: {}, env };
  // PORT may be that of another program: it counts for a server only.
  const { fallback: _fallback, ...portSetting } = SETTINGS.port;
  const [port, host, cert] = [portSetting, SETTINGS.host, SETTINGS.tlsCert].map((each) => find(each, sources, file));
  // A file that was found, not named, is not trusted with a token, whichever part of the address it sets.
  const source = [port, host, cert].find((found) => found?.unasked) ?? port ?? host ?? cert;
  if (source === undefined) return undefined;
  const listens = port === undefined ? SETTINGS.port.default : (parse(SETTINGS.port, port) as number);
  if (listens === 0) return undefined;
  const name = host === undefined ? SETTINGS.host.default : (parse(SETTINGS.host, host) as string);
  const address = name === '0.0.0.0' || name === '::' ? SETTINGS.host.default : name;
  const scheme = cert === undefined ? 'http' : 'https';
  const text = `${scheme}://${address.includes(':') ? `[${address}]` : address}:${listens}`;
  return text === SETTINGS.url.default ? undefined : { ...source, text };
}

function find(setting: Setting<unknown>, sources: SettingsSources, file: SettingsFile): Given | undefined {
  const flag = sources.flags[setting.name];
  if (flag !== undefined) return { text: flag, from: `--${setting.name}`, rank: RANKS.flag };
  const variable = envName(setting.name);
  const own = sources.env[variable];
  if (own !== undefined && own !== '') return { text: own, from: variable, rank: RANKS.variable };
  const inFile = file.get(setting.name);
  if (inFile !== undefined) return { ...inFile, rank: inFile.unasked ? RANKS.folder : RANKS.file };
  const wellKnown = setting.fallback === undefined ? undefined : sources.env[setting.fallback];
  if (wellKnown === undefined || wellKnown === '') return undefined;
  return { text: wellKnown, from: setting.fallback as string, rank: RANKS.folder };
}

function parse(setting: Setting<unknown>, { text, from }: Pick<Given, 'text' | 'from'>): unknown {
  try {
    return setting.parse(text);
  } catch (error) {
    const shown = SECRETIVE.test(setting.name) ? '' : `, not ${JSON.stringify(text)}`;
    throw new SettingsError(`${from}: expected ${(error as Error).message}${shown}`);
  }
}

function readToken(file: string | null): string | null {
  if (file === null) return null;
  return parse(SETTINGS.token, { text: readPrivateFile('token-file', file), from: file }) as string;
}

/**
 * Rejects unknown variables: a misspelt one would silently leave a default in place. Inside a job, the job's own
 * variables are allowed.
 */
function refuseUnknownVariables(env: SettingsSources['env']): void {
  if (env['WORKRON_JOB_ID'] !== undefined) return;
  const known = [...Object.values(SETTINGS).map(({ name }) => envName(name)), ...OTHER_VARIABLES];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('WORKRON_') || name.startsWith(TEST_PREFIX) || known.includes(name)) continue;
    throw new SettingsError(
      `unknown variable ${name}`,
      didYouMean(name, known) ?? 'workron help environment lists them',
    );
  }
}

/** The roles of a command; those of `up` are set by `role`. */
function rolesOf(command: SettingCommand, settings: Pick<Settings, 'role'>): readonly Role[] {
  if (command === 'up') return settings.role;
  if (command === 'scheduler') return ['api', 'scheduler'];
  return command === 'worker' ? ['worker'] : [];
}

/** Checks that involve several settings. */
function checkSettings(settings: Settings, command: SettingCommand): void {
  const roles = rolesOf(command, settings);
  if (roles.length > 0 && settings.heartbeatMs * 2 > settings.leaseMs) {
    throw new SettingsError(
      'heartbeat must be at most half of lease; otherwise one late heartbeat costs a job its attempt',
    );
  }
  if (command === 'worker') checkWorker(settings);
  checkProxy(settings);
  if ((settings.tlsCert === null) !== (settings.tlsKey === null)) {
    throw new SettingsError('expected both tls-cert and tls-key, or none of them');
  }
  if (command === 'up' && !roles.includes('scheduler') && settings.store.driver !== 'postgres') {
    throw new SettingsError(
      `role ${roles.join(',')} without scheduler needs a PostgreSQL database that a scheduler shares`,
      '--db-url postgres://…, or workron worker --scheduler URL',
    );
  }
}

/** Names of users are believed from a proxy only, and each needs a role. */
function checkProxy({ trustProxy, userHeader, roleMap, insecureNoToken }: Settings): void {
  if (userHeader === null && roleMap.length > 0) throw new SettingsError('role-map needs user-header');
  if (userHeader === null) return;
  if (trustProxy.length === 0 || roleMap.length === 0) {
    throw new SettingsError('user-header needs trust-proxy, whose requests it is believed in, and role-map');
  }
  if (insecureNoToken) throw new SettingsError('user-header and insecure-no-token exclude each other');
}

/** A worker needs exactly one source of jobs. */
function checkWorker({ schedulerUrls, store, dbUrl }: Settings): void {
  if (schedulerUrls.length > 0 && store.driver === 'postgres' && dbUrl !== null) {
    throw new SettingsError('a worker takes scheduler or db-url, not both');
  }
  if (schedulerUrls.length === 0 && store.driver !== 'postgres') {
    throw new SettingsError(
      'a worker needs a scheduler to work for',
      '--scheduler http://HOST:8080, or --db-url postgres://… to attach it to the database',
    );
  }
}
