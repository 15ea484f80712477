/** What may follow the words of a command line. */

import type { Command, Option } from 'commander';
import { STATUSES } from '../../core/job.ts';
import { readProfiles } from '../../ops/settings/profile.ts';
import { connect } from '../client-command.ts';
import { COMMANDS } from '../commands.ts';
import { withJsonFields, withMovedFlags } from '../global-flags.ts';
import { type Candidate, liveValues, type ValueKind } from './live-values.ts';

/** Values of flags. */
const FLAG_VALUES: Readonly<Record<string, readonly string[] | ValueKind | 'profile'>> = {
  '--profile': 'profile',
  '--status': STATUSES,
  '--output': ['table', 'wide', 'json', 'yaml'],
  '--queue': 'queue',
  '--workflow': 'definition',
  '--definition': 'definition',
};

/** Arguments of commands, by the path of the command. */
const ARGUMENTS: Readonly<Record<string, ValueKind | 'profile'>> = {
  ...Object.fromEntries(['set', 'show', 'use', 'rm'].map((name) => [`config ${name}`, 'profile'])),
  ...Object.fromEntries(
    ['job', 'history', 'steps', 'why', 'logs', 'wait', 'cancel', 'retry', 'rerun', 'edit', 'open'].map((name) => [
      name,
      'job',
    ]),
  ),
  ...Object.fromEntries(['show', 'pause', 'resume', 'rm', 'set'].map((name) => [`queues ${name}`, 'queue'])),
  ...Object.fromEntries(['show', 'drain', 'undrain'].map((name) => [`workers ${name}`, 'worker'])),
  ...Object.fromEntries(
    ['show', 'next', 'ticks', 'edit', 'pause', 'resume', 'run', 'backfill', 'rm'].map((name) => [
      `schedule ${name}`,
      'schedule',
    ]),
  ),
  ...Object.fromEntries(['get', 'cancel', 'retry', 'rerun'].map((name) => [`workflow ${name}`, 'workflow'])),
  ...Object.fromEntries(['run', 'show', 'rm'].map((name) => [`workflow ${name}`, 'definition'])),
};

/** Kinds of names in whose place a file may stand, too. */
const OR_FILE: readonly unknown[] = ['definition'];

/**
 * The last word is what has been typed so far of the next one. `null`: any text may follow, so the shell offers files. Never
 * throws: nothing is completed where something is wrong.
 */
export async function complete(words: readonly string[]): Promise<Candidate[] | null> {
  const typed = words.at(-1) ?? '';
  const [, flag, part] = /^(--[a-z-]+)=(.*)$/s.exec(typed) ?? [];
  if (flag !== undefined) {
    const values = await complete([...words.slice(0, -1), flag, part ?? '']);
    return values?.map(({ value, ...rest }) => ({ value: `${flag}=${value}`, ...rest })) ?? null;
  }
  try {
    const found = await candidates(words.slice(0, -1), typed);
    return found?.filter(({ value }) => value.startsWith(typed)) ?? null;
  } catch {
    return [];
  }
}

async function candidates(before: readonly string[], typed: string): Promise<Candidate[] | null> {
  const last = before.at(-1) ?? '';
  const [name = '-', ...rest] = withMovedFlags(withJsonFields(before));
  if (name.startsWith('-')) return last === '--profile' ? profileCandidates() : await commandCandidates();
  if (before.includes('--')) return null;
  const entry = COMMANDS.find(({ names }) => names.includes(name));
  if (entry === undefined) return [];
  const { command, path, own } = descend(await entry.load(), rest);
  const flag = command.options.find((option) => isValueOf(option, last));
  if (flag !== undefined) {
    // The flag itself has no value yet.
    operandsOf(command, withMovedFlags(before.slice(0, -1)));
    return await valuesOf(command, FLAG_VALUES[flag.long ?? ''], typed);
  }
  if (typed.startsWith('-')) return command.options.filter(({ hidden }) => !hidden).flatMap(flagCandidate);
  const children = command.commands.map((child) => ({ value: child.name(), about: child.description() }));
  if (children.length > 0) return children;
  const { registeredArguments: taken } = command;
  const isFull = operandsOf(command, own).length >= taken.length && taken.at(-1)?.variadic !== true;
  return isFull ? [] : await valuesOf(command, ARGUMENTS[path], typed);
}

async function commandCandidates(): Promise<Candidate[]> {
  const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
  return commands.map((command) => ({ value: command.name(), about: command.description() }));
}

/** The subcommand that the words lead to; `own` are those that follow. */
function descend(top: Command, words: readonly string[]): { command: Command; path: string; own: string[] } {
  let command = top;
  const path = [top.name()];
  const own: string[] = [];
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (child === undefined) {
      own.push(word);
      continue;
    }
    command = child;
    path.push(child.name());
  }
  return { command, path: path.join(' '), own };
}

/** Reads the flags, of which those that say where the server is matter here, and returns the other words. */
function operandsOf(command: Command, words: readonly string[]): string[] {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .allowUnknownOption()
    .parseOptions([...words]).operands;
}

/** True if the next word is the value of this flag. */
function isValueOf({ long, short, required }: Option, word: string): boolean {
  return required && word !== '' && (word === long || word === short);
}

function flagCandidate({ long, description }: Option): Candidate[] {
  return long == null ? [] : [{ value: long, about: description }];
}

async function valuesOf(
  command: Command,
  values: readonly string[] | ValueKind | 'profile' | undefined,
  typed: string,
): Promise<Candidate[] | null> {
  if (values === undefined) return null;
  if (typeof values !== 'string') return values.map((value) => ({ value }));
  if (values === 'profile') return profileCandidates();
  const found = await liveValues(connect(command), values);
  return OR_FILE.includes(values) && !found.some(({ value }) => value.startsWith(typed)) ? null : found;
}

function profileCandidates(): Candidate[] {
  return Object.entries(readProfiles(process.env).profiles).map(([value, { url }]) => ({ value, about: url }));
}
