/**
 * Starts shells by Node's `spawn`. It works everywhere, but on Linux it copies this process for each shell. It changes no user:
 * Node would enter the folder, and drop the user's groups, before it does.
 */

import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Shell, ShellEvents, ShellStarter } from './shell-starter.ts';

// Node reaps only what it started.
export const nodeStarter: ShellStarter = {
  adopts: false,
  helpers: new Map(),
  start,
  forget: () => undefined,
  giveUpStarts: () => undefined,
};

function start({ command, cwd, env, output }: Shell, { onStart, onExit }: ShellEvents): void {
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['ignore', output.writeFd, output.writeFd],
    detached: true,
    env,
    ...(cwd === null ? {} : { cwd }),
  });
  // Without a pid, the reason is in an error event that arrives too late.
  child.on('error', () => undefined);
  if (child.pid === undefined) throw new Error(startErrorOf({ cwd }));
  child.on('exit', (exitCode, signal) => onExit({ exitCode, signal, usage: null }));
  onStart(child.pid);
}

/**
 * Finds the reason for a failed start, because the system's error names neither the path nor the operation. It looks with the
 * rights of the command: what its user may not see must not be told.
 */
export function startErrorOf({ cwd }: Pick<Shell, 'cwd'>): string {
  if (cwd === null) return '/bin/sh could not be started';
  try {
    return statSync(cwd).isDirectory() ? `${cwd} cannot be entered` : `${cwd} is not a folder`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return `${cwd} cannot be entered`;
    return `the working directory ${cwd} does not exist`;
  }
}
