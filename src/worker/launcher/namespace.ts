/**
 * A PID namespace around the launcher, if the machine allows it: when the launcher ends, the kernel kills everything in
 * the namespace, whatever it did to escape.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { passedOn } from '../command/environment.ts';

/** Mounts stay shared with the machine, except /proc. */
const UNSHARE = [
  'unshare',
  '--pid',
  '--fork',
  '--kill-child',
  '--mount-proc',
  '--propagation',
  'unchanged',
  '--',
] as const;

/** Checks that it is the first process, and that /proc agrees. */
const PROBE = 'read -r pid rest </proc/self/stat; [ "$pid" = 1 ] && [ "$$" = 1 ]';

/** The first process of the namespace reaps orphans, which Node would not, and passes on the launcher's exit code. */
const FIRST_PROCESS = ['/bin/sh', '-c', '"$@"; exit $?', 'workron'] as const;

let probed: Promise<boolean> | undefined;

/** True if namespaces work here. Checked once. */
export function canEnclose(): Promise<boolean> {
  probed ??= probe();
  return probed;
}

async function probe(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    const [command, ...args] = [...UNSHARE, '/bin/sh', '-c', PROBE];
    await promisify(execFile)(command, args, { timeout: 5_000, env: passedOn(process.env) });
    return true;
  } catch {
    return false;
  }
}

/** Returns the command line that runs `argv` in its own namespace. */
export function enclose(argv: readonly string[]): string[] {
  return [...UNSHARE, ...FIRST_PROCESS, ...argv];
}
