/** Starts shells by Node's own means: everywhere, but on Linux the launcher is copied for each. */

import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { Shell, ShellStarter } from './shell-starter.ts';

export const nodeStarter: ShellStarter = {
  start({ command, cwd, env, outputFd }, onExit) {
    const child = spawn('/bin/sh', ['-c', command], {
      stdio: ['ignore', outputFd, outputFd],
      detached: true,
      env,
      ...(cwd === null ? {} : { cwd }),
    });
    // Without a pid an error event says why, later than we want to know.
    child.on('error', () => undefined);
    if (child.pid === undefined) throw new Error(whyNot({ cwd }));
    child.on('exit', onExit);
    return child.pid;
  },
};

/** The system names neither what it looked for nor what it did with it. */
export function whyNot({ cwd }: Pick<Shell, 'cwd'>): string {
  if (cwd === null) return '/bin/sh could not be started';
  try {
    return statSync(cwd).isDirectory() ? `${cwd} cannot be entered` : `${cwd} is not a folder`;
  } catch {
    return `the working directory ${cwd} does not exist`;
  }
}
