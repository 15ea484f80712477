/** Turns the table of settings into flags, and flags into settings. */

import { type Command, Option } from 'commander';
import { SettingsError } from '../../ops/settings/error.ts';
import { givenSettings, loadSettings, type SettingsSources } from '../../ops/settings/load.ts';
import { envName, type Setting, type SettingCommand, type Settings, settingsOf } from '../../ops/settings/settings.ts';
import { usageError } from '../errors/cli-error.ts';

/** Settings of a server that its help names. */
const EVERYDAY: readonly string[] = [
  'host',
  'port',
  'token-file',
  'db-url',
  'role',
  'scheduler',
  'workers',
  'queues',
  'tags',
  'resources',
  'handlers',
  'secrets-key-file',
  'drain-timeout',
  'log-level',
];

/** Flags that the help of a command leaves to `workron help connection` and `workron help all`. */
export const RARE = new WeakSet<Option>();

export function addSettingFlags(command: Command, kind: SettingCommand): Command {
  const isServer = kind === 'up' || kind === 'scheduler' || kind === 'worker';
  for (const [, setting] of settingsOf(kind)) {
    const flag = flagOf(setting);
    if (kind === 'client' || (isServer && !EVERYDAY.includes(setting.name))) RARE.add(flag);
    command.addOption(kind === 'client' ? flag : flag.helpGroup(`${setting.group}:`));
  }
  const file = new Option('--config <FILE>', 'Settings file (default: ./workron.yaml, if it is there)');
  if (kind === 'client') RARE.add(file);
  return command.addOption(file);
}

/** The settings of this call. Throws a usage error for invalid ones. */
export function settingsFrom(command: Command, kind: SettingCommand): Settings {
  return orUsageError(() => loadSettings(sourcesOf(command, kind)));
}

/** Where address and token of a call to the server come from. Throws a usage error for invalid settings. */
export function connectionFrom(command: Command): { url: string; addressFrom: string; tokenFrom: string | null } {
  return orUsageError(() => {
    const sources = sourcesOf(command, 'client');
    const { url } = loadSettings(sources);
    const { url: address, token, tokenFile } = givenSettings(sources);
    return { url, addressFrom: address?.from ?? 'the default', tokenFrom: (token ?? tokenFile)?.from ?? null };
  });
}

function sourcesOf(command: Command, kind: SettingCommand): SettingsSources {
  const options = command.optsWithGlobals<Record<string, string | string[] | undefined>>();
  const flags: Record<string, string> = {};
  for (const [, setting] of settingsOf(kind)) {
    const given = options[flagOf(setting).attributeName()];
    if (given !== undefined) flags[setting.name] = Array.isArray(given) ? given.join(',') : given;
  }
  return { command: kind, flags, env: process.env, configFile: options['config'] as string | undefined };
}

/** Runs what reads settings; what is wrong with them is a usage error. */
export function orUsageError<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof SettingsError) throw usageError(error.message, error.hint);
    throw error;
  }
}

function flagOf(setting: Setting<unknown>): Option {
  const about = `${setting.sentence} (default: ${setting.defaultText}, env: ${envName(setting.name)})`;
  // A switch that is dangerous to leave on is not made longer.
  const isSwitch = setting.name === 'insecure-no-token';
  const option = new Option(`--${setting.name} ${isSwitch ? `[${setting.value}]` : `<${setting.value}>`}`, about);
  if (isSwitch) return option.preset('on');
  return isList(setting) ? option.argParser(collect) : option;
}

function isList(setting: Setting<unknown>): boolean {
  return setting.value.endsWith(',…');
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value];
}
