/** Starts shells by Node's `spawn`. It works everywhere, but on Linux it copies the launcher for each shell. */

import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Shell, ShellStarter } from './shell-starter.ts';

export const nodeStarter: ShellStarter = {
  // Node reaps only what it started.
  adopts: false,
  start({ command, cwd, env, outputFd }, onExit) {
    const child = spawn('/bin/sh', ['-c', command], {
      stdio: ['ignore', outputFd, outputFd],
      detached: true,
      env,
      ...(cwd === null ? {} : { cwd }),
    });
    // Without a pid, the reason is in an error event that arrives too late.
    child.on('error', () => undefined);
    if (child.pid === undefined) throw new Error(startErrorOf({ cwd }));
    child.on('exit', onExit);
    return child.pid;
  },
};

/** Finds the reason for a failed start, because the system's error names neither the path nor the operation. */
export function startErrorOf({ cwd }: Pick<Shell, 'cwd'>): string {
  if (cwd === null) return '/bin/sh could not be started';
  try {
    return statSync(cwd).isDirectory() ? `${cwd} cannot be entered` : `${cwd} is not a folder`;
  } catch {
    return `the working directory ${cwd} does not exist`;
  }
}
