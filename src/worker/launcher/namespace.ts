/**
 * A PID namespace around the launcher, where the machine allows it: when the launcher ends, the kernel ends everything
 * in it, whatever it did to escape.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Mounts stay shared with the machine; only /proc is the namespace's own. */
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

/** Is it the first process, and does /proc say so too? */
const PROBE = 'read -r pid rest </proc/self/stat; [ "$pid" = 1 ] && [ "$$" = 1 ]';

/** The first process of the namespace collects orphans, which Node would not, and passes the launcher's end on. */
const FIRST_PROCESS = ['/bin/sh', '-c', '"$@"; exit $?', 'workron'] as const;

let probed: Promise<boolean> | undefined;

/** Whether namespaces work here; asked once. */
export function canEnclose(): Promise<boolean> {
  probed ??= probe();
  return probed;
}

async function probe(): Promise<boolean> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    const [command, ...args] = [...UNSHARE, '/bin/sh', '-c', PROBE];
    await promisify(execFile)(command, args, { timeout: 5_000 });
    return true;
  } catch {
    return false;
  }
}

/** The command line that runs `argv` in a namespace of its own. */
export function enclose(argv: readonly string[]): string[] {
  return [...UNSHARE, ...FIRST_PROCESS, ...argv];
}
