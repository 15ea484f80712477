/**
 * Starts shells by Node's `spawn`. It works everywhere, but on Linux it copies the launcher for each shell. As another
 * user, shells have that user's primary group only: Node drops all others. A program between the two that sets them would
 * run as root with the job's environment, and so load what `LD_PRELOAD` names.
 */

import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import type { CommandUser, Owner } from './command-user.ts';
import type { OnShellExit, Shell, ShellStarter } from './shell-starter.ts';

export function nodeStarter(user: CommandUser | null): ShellStarter {
  const identity = user === null ? {} : { uid: user.uid, gid: user.gid };
  // Node reaps only what it started.
  return { adopts: false, start: (shell, onExit) => start(shell, identity, onExit) };
}

function start({ command, cwd, env, outputFd }: Shell, identity: Partial<Owner>, onExit: OnShellExit): number {
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['ignore', outputFd, outputFd],
    detached: true,
    env,
    ...identity,
    ...(cwd === null ? {} : { cwd }),
  });
  // Without a pid, the reason is in an error event that arrives too late.
  child.on('error', () => undefined);
  if (child.pid === undefined) throw new Error(startErrorOf({ cwd }));
  child.on('exit', (exitCode, signal) => onExit({ exitCode, signal, usage: null }));
  return child.pid;
}

/** Finds the reason for a failed start, because the system's error names neither the path nor the operation. */
export function startErrorOf({ cwd }: Pick<Shell, 'cwd'>): string {
  if (cwd === null) return '/bin/sh could not be started';
  try {
    return statSync(cwd).isDirectory() ? `${cwd} cannot be entered` : `${cwd} is not a folder`;
  } catch {
    return `the working directory ${cwd} does not exist`;
  }
}
