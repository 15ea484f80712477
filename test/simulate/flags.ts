/** Flags of the scripts that look for faults. A wrong one ends the script with code 2: a run of nothing would look like a success. */

import { type ParseArgsConfig, parseArgs } from 'node:util';

const USAGE = 2;

function refuse(message: string): never {
  console.error(`error: ${message}`);
  process.exit(USAGE);
}

/** `parseArgs`, without a stack trace for unknown flags. */
export function flagsOf<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

/** A number above 0. */
export function numberFrom(flag: string, text: string): number {
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) && value > 0
    ? value
    : refuse(`--${flag}: expected a number above 0, not "${text}"`);
}

export function wholeFrom(flag: string, text: string): number {
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value)
    ? value
    : refuse(`--${flag}: expected a whole number, not "${text}"`);
}

/** `7` or `1-200`. */
export function rangeFrom(flag: string, text: string): [from: number, to: number] {
  const match = /^(\d+)(?:-(\d+))?$/.exec(text);
  const from = Number(match?.[1]);
  const to = Number(match?.[2] ?? match?.[1]);
  return match !== null && from <= to ? [from, to] : refuse(`--${flag}: expected numbers such as 1-200, not "${text}"`);
}

export function chosenFrom<const T extends string>(flag: string, text: string, choices: readonly T[]): T {
  const found = choices.find((choice) => choice === text);
  return found ?? refuse(`--${flag}: expected one of ${choices.join(', ')}, not "${text}"`);
}
