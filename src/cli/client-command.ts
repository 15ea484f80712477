/** The common part of commands that call a running Workron. */

import { Command } from 'commander';
import { didYouMean } from '../core/suggest.ts';
import { Connection } from './connection.ts';
import { usageError } from './errors/cli-error.ts';
import { addSettingFlags, settingsFrom } from './flags/setting.ts';

export interface Output {
  /** Print the objects of the API as JSON. */
  json: boolean;
  /** Print ids only. */
  quiet: boolean;
}

export function clientCommand(name: string, summary: string): Command {
  return withClientFlags(new Command(name).description(summary));
}

function withClientFlags(command: Command): Command {
  command
    .optionsGroup('Output:')
    .option('--json', "Print the API's objects as JSON")
    .option('-q, --quiet', 'Print ids only')
    .optionsGroup('Connection:');
  return addSettingFlags(command, 'client').optionsGroup('Options:');
}

export function connect(command: Command): Connection {
  const { url, token } = settingsFrom(command, 'client');
  return new Connection(url, token);
}

export function outputOf(command: Command): Output {
  const { json = false, quiet = false } = command.optsWithGlobals<Partial<Output>>();
  return { json, quiet };
}

/** Accepts `12`, and `#12` as people write it. */
export function jobId(text: string): string {
  return idFrom(text) ?? refuseId(text, 'job', 'workron jobs');
}

export function workflowId(text: string): string {
  return idFrom(text) ?? refuseId(text, 'workflow', 'workron workflow ls');
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

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined)}\n`);
}

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** Returns the width of the terminal; `undefined` in a pipe, where nothing is cut. */
export function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined;
}
