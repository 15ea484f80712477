/** The settings file: flat YAML with the names of the flags as keys. */

import { readFileSync } from 'node:fs';
import module from 'node:module';
import type * as Yaml from 'yaml';
import { didYouMean } from '../../core/suggest.ts';
import { systemErrorText } from '../system-error.ts';
import { SettingsError } from './error.ts';
import { SETTINGS } from './settings.ts';

const DEFAULT_FILE = './workron.yaml';

interface FileSetting {
  text: string;
  from: string;
  /** The file was found in the working directory, not named by a flag or variable. Another user may own it. */
  unasked: boolean;
}

/** By name. */
export type SettingsFile = ReadonlyMap<string, FileSetting>;

/** Returns each key's value as text. Only a file that was asked for must exist. */
export function readSettingsFile(asked: string | undefined): SettingsFile {
  const path = asked ?? DEFAULT_FILE;
  const content = read(path, asked !== undefined);
  const settings = new Map<string, FileSetting>();
  const known: string[] = Object.values(SETTINGS).map(({ name }) => name);
  for (const [key, value] of Object.entries(parseMap(path, content))) {
    const from = `${path}: ${key}`;
    if (!known.includes(key)) {
      throw new SettingsError(`${from}: unknown setting`, didYouMean(key, known) ?? 'docs/configuration.md lists them');
    }
    if (value !== null) settings.set(key, { text: textOf(value, from), from, unasked: asked === undefined });
  }
  return settings;
}

function read(path: string, required: boolean): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!required && (error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new SettingsError(`cannot read the settings file ${path}: ${systemErrorText(error)}`);
  }
}

function parseMap(path: string, content: string): object {
  if (content === '') return {};
  let document: unknown;
  try {
    // Loaded on demand, because most calls have no settings file.
    document = (module.createRequire(import.meta.url)('yaml') as typeof Yaml).parse(content);
  } catch (error) {
    throw new SettingsError(`${path}: ${(error as Error).message}`);
  }
  if (document === null || document === undefined) return {};
  if (typeof document !== 'object' || Array.isArray(document)) {
    throw new SettingsError(`${path}: expected lines such as "port: 9000"`);
  }
  return document;
}

/** Converts a value to the text of a flag: lists to `a,b`, maps to `a=1,b=2`, lists of maps to JSON. */
function textOf(value: unknown, from: string): string {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null))
    return JSON.stringify(value);
  if (Array.isArray(value)) return value.map((item) => scalar(item, from)).join(',');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, item]) => `${name}=${scalar(item, from)}`)
      .join(',');
  }
  return scalar(value, from);
}

function scalar(value: unknown, from: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new SettingsError(`${from}: expected a string, a number, a boolean, or a list of them`);
}
