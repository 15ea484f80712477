/** Profiles: named servers of a user, each with its address and the file of its token. One of them can be in use. */

import { lstatSync, mkdirSync, readFileSync, renameSync, type Stats, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { didYouMean } from '../../core/suggest.ts';
import { systemErrorText } from '../system-error.ts';
import { SettingsError } from './error.ts';
import { serverUrl } from './parse.ts';

export interface Profile {
  url: string;
  /** An absolute path; `null`: the server needs no token, or is this user's own on this machine. */
  tokenFile: string | null;
  /** The absolute path of the authorities' certificates; `null`: the public ones. */
  ca: string | null;
}

export interface Profiles {
  /** The name of the profile in use. */
  current: string | null;
  profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
/** `config use none` means no profile. */
const NO_PROFILE = 'none';
const FOR_OTHERS = 0o077;

/** Throws an error whose message is what was expected. */
export function profileName(text: string): string {
  if (NAME.test(text) && text !== NO_PROFILE) return text;
  throw new Error(`a name of letters a-z, digits, ".", "_" and "-", other than ${NO_PROFILE}`);
}

/** Where the profiles are kept; `null` if the user has no folder for settings. */
function profilesFile(env: Environment): string | null {
  const folder = env['XDG_CONFIG_HOME'] || (env['HOME'] ? join(env['HOME'], '.config') : null);
  return folder === null ? null : join(folder, 'workron', 'profiles.json');
}

/** Throws `SettingsError` if the file is malformed, or others may change it: they could redirect a token. */
export function readProfiles(env: Environment): Profiles {
  const file = profilesFile(env);
  const text = file === null ? null : read(file);
  if (file === null || text === null) return { current: null, profiles: {} };
  try {
    const { current, profiles } = JSON.parse(text) as { current: unknown; profiles: Record<string, unknown> };
    const entries = Object.entries(profiles).map(([name, value]) => [profileName(name), profileFrom(value)]);
    return {
      current: typeof current === 'string' ? profileName(current) : null,
      profiles: Object.fromEntries(entries),
    };
  } catch (error) {
    throw new SettingsError(
      `${file}: ${(error as Error).message}`,
      'workron config writes it; delete it to begin again',
    );
  }
}

/** Replaces the file in one step. Only this user can read it. */
export function writeProfiles(env: Environment, { current, profiles }: Profiles): void {
  const file = profilesFile(env);
  if (file === null) throw new SettingsError('there is no folder for profiles', 'set HOME or XDG_CONFIG_HOME');
  const wire = Object.entries(profiles).map(([name, { url, tokenFile, ca }]) => [
    name,
    { url, token_file: tokenFile, ca },
  ]);
  const text = `${JSON.stringify({ current, profiles: Object.fromEntries(wire) }, null, 2)}\n`;
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    throw new SettingsError(`cannot write ${file}: ${systemErrorText(error)}`);
  }
}

/** Throws `SettingsError` with the nearest name if there is no such profile. */
export function profileNamed({ profiles }: Profiles, name: string, from: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const known = Object.keys(profiles);
  throw new SettingsError(
    `${from}: there is no profile "${name}"`,
    didYouMean(name, known) ?? (known.length === 0 ? 'workron config set NAME --url URL' : 'workron config ls'),
  );
}

function profileFrom(value: unknown): Profile {
  const { url, token_file: tokenFile, ca } = value as { url: unknown; token_file: unknown; ca?: unknown };
  if (typeof url !== 'string') throw new Error('expected a url in every profile');
  return { url: serverUrl(url), tokenFile: textOrNull(tokenFile), ca: textOrNull(ca) };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function read(file: string): string | null {
  const stat = statOf(file);
  if (stat === null) return null;
  const isOwn = process.getuid === undefined || stat.uid === process.getuid();
  if (!isOwn || !stat.isFile() || (stat.mode & FOR_OTHERS) !== 0) {
    throw new SettingsError(`${file} must be a file of your own that nobody else may use`, `chmod 600 ${file}`);
  }
  return readFileSync(file, 'utf8');
}

/** A home that is no folder, or not this user's, has no profiles. */
function statOf(file: string): Stats | null {
  try {
    return lstatSync(file);
  } catch {
    return null;
  }
}
