/** What may follow the words of a command line. */

import type { Command, Option } from 'commander';
import { STATUSES } from '../../core/job.ts';
import { readProfiles } from '../../ops/settings/profile.ts';
import { connect } from '../client-command.ts';
import { COMMANDS } from '../commands.ts';
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
    ['job', 'history', 'why', 'logs', 'wait', 'cancel', 'retry', 'rerun', 'edit', 'open'].map((name) => [name, 'job']),
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

/** The last word is what has been typed so far of the next one. Never throws: nothing is completed where something is wrong. */
export async function complete(words: readonly string[]): Promise<Candidate[]> {
  const typed = words.at(-1) ?? '';
  try {
    const found = await candidates(words.slice(0, -1), typed);
    return found.filter(({ value }) => value.startsWith(typed));
  } catch {
    return [];
  }
}

async function candidates(before: readonly string[], typed: string): Promise<Candidate[]> {
  const [name, ...rest] = before;
  if (name === undefined) return COMMANDS.flatMap(({ names }) => names.slice(0, 1)).map((value) => ({ value }));
  if (before.includes('--')) return [];
  const entry = COMMANDS.find(({ names }) => names.includes(name));
  if (entry === undefined) return [];
  const { command, path } = descend(await entry.load(), rest);
  const flag = command.options.find((option) => isValueOf(option, before.at(-1) ?? ''));
  // The flag itself has no value yet.
  if (flag !== undefined) return await valuesOf(command, FLAG_VALUES[flag.long ?? ''], before.slice(0, -1));
  if (typed.startsWith('-')) return command.options.filter(({ hidden }) => !hidden).flatMap(flagCandidate);
  const children = command.commands.map((child) => ({ value: child.name(), about: child.description() }));
  return children.length > 0 ? children : await valuesOf(command, ARGUMENTS[path], before);
}

function descend(top: Command, words: readonly string[]): { command: Command; path: string } {
  let command = top;
  const path = [top.name()];
  for (const word of words) {
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (child === undefined) continue;
    command = child;
    path.push(child.name());
  }
  return { command, path: path.join(' ') };
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
  before: readonly string[],
): Promise<Candidate[]> {
  if (values === undefined) return [];
  if (typeof values !== 'string') return values.map((value) => ({ value }));
  if (values === 'profile') return profileCandidates();
  // Only the flags that say where the server is matter here.
  command
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .allowUnknownOption()
    .parseOptions([...before]);
  return await liveValues(connect(command), values);
}

function profileCandidates(): Candidate[] {
  return Object.entries(readProfiles(process.env).profiles).map(([value, { url }]) => ({ value, about: url }));
}
