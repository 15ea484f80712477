/** Secrets of a server, which other processes of its user must not find in /proc. */

import { closeSync, readFileSync } from 'node:fs';

/** Set by bin/workron. */
const DESCRIPTOR = 'WORKRON_SECRETS_FD';
const PR_SET_DUMPABLE = 4;

/**
 * Takes what bin/workron handed over: variables are set in `process.env`, which does not change what /proc shows of this
 * process; flags are returned.
 */
export function takeSecrets(): string[] {
  const descriptor = process.env[DESCRIPTOR];
  if (descriptor === undefined) return [];
  delete process.env[DESCRIPTOR];
  const lines = readFileSync(Number(descriptor), 'utf8').split('\n');
  closeSync(Number(descriptor));
  const flags: string[] = [];
  for (const line of lines.filter((line) => line !== '')) {
    if (line.startsWith('--')) flags.push(line);
    else process.env[line.slice(0, line.indexOf('='))] = line.slice(line.indexOf('=') + 1);
  }
  return flags;
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
