/** Secrets of a server, which other processes of its user must not find in /proc. */

import { closeSync, readFileSync } from 'node:fs';
import { usageError } from './errors/cli-error.ts';

/** The variable that bin/workron sets, and its only value. */
const VARIABLE = 'WORKRON_SECRETS_FD';
const DESCRIPTOR = 9;
const PR_SET_DUMPABLE = 4;

/**
 * Takes what bin/workron handed over: variables are set in `process.env`, which does not change what /proc shows of this
 * process; flags are returned. Throws a usage error if the variable was set by another program.
 */
export function takeSecrets(): string[] {
  const given = process.env[VARIABLE];
  if (given === undefined) return [];
  delete process.env[VARIABLE];
  const flags: string[] = [];
  for (const line of linesOf(given).filter((line) => line !== '')) {
    if (line.startsWith('--')) flags.push(line);
    else process.env[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
  }
  return flags;
}

function linesOf(given: string): string[] {
  try {
    if (given !== String(DESCRIPTOR)) throw new Error(`expected ${DESCRIPTOR}`);
    const lines = readFileSync(DESCRIPTOR, 'utf8').split('\n');
    closeSync(DESCRIPTOR);
    return lines;
  } catch (error) {
    throw usageError(`${VARIABLE}: ${(error as Error).message}`, `unset ${VARIABLE}: only bin/workron sets it`);
  }
}

/**
 * Keeps other processes of this user from reading the memory of this one or attaching a debugger, where Node can call the C
 * library.
 */
export async function hideMemory(): Promise<void> {
  if (process.platform !== 'linux') return;
  try {
    const { dlopen } = await import('node:ffi');
    const { functions } = dlopen(null, { prctl: { arguments: ['int32', 'int64'], return: 'int32' } });
    functions.prctl(PR_SET_DUMPABLE, 0n);
  } catch {
    // `node:ffi` is experimental; the secrets are neither in the environment nor in the arguments.
  }
}
