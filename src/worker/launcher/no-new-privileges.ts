/** Keeps commands from gaining rights by set-user-ID programs such as sudo. What the launcher starts inherits that. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { passedOn } from '../command/environment.ts';

const SETPRIV = ['setpriv', '--no-new-privs', '--'] as const;

/** Rejects if the machine has no program for it. */
export async function assertNoNewPrivileges(): Promise<void> {
  try {
    const [command, ...args] = SETPRIV;
    await promisify(execFile)(command, [...args, 'true'], { timeout: 5_000, env: passedOn(process.env) });
  } catch (error) {
    throw new Error('setpriv of util-linux is needed, and does not work here', { cause: error });
  }
}

/** Returns the command line that runs `argv` so. */
export function withoutNewPrivileges(argv: readonly string[]): string[] {
  return [...SETPRIV, ...argv];
}
