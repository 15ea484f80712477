/** Starts and finds parts of the program, wherever their code is. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Part } from '../core/part.ts';

/**
 * Flags of the program reach the thread, such as those that load other modules first, and then `execArgv` does not apply. A program
 * that is given as text (`node --input-type=module --eval …`) has a flag with which no thread starts from a file.
 */
export async function startThread(part: Part, { execArgv = [], ...options }: WorkerOptions): Promise<Worker> {
  const code = await embeddedCode(part);
  if (code !== undefined) {
    return new Worker(code, { ...options, eval: true, execArgv: ['--input-type=module', ...execArgv] });
  }
  const inherits = process.execArgv.length > 0 && !process.execArgv.some((flag) => flag.startsWith('--input-type'));
  return new Worker(part.file, inherits ? options : { ...options, execArgv: execArgv.filter(isKnownFlag) });
}

/** Other runtimes refuse flags of Node that they do not have. */
function isKnownFlag(flag: string): boolean {
  return process.allowedNodeEnvironmentFlags.has(flag.replace(/=.*/, ''));
}

/** Returns what `import()` takes to load the part. */
export async function specifierOf(part: Part): Promise<string> {
  const code = await embeddedCode(part);
  return code === undefined ? part.file.href : `data:text/javascript;base64,${Buffer.from(code).toString('base64')}`;
}

/** Returns a function that gives the path of the part. Without a file of its own, the part is written into the given folder. */
export async function pathInto(part: Part): Promise<(folder: string) => string> {
  const code = await embeddedCode(part);
  if (code === undefined) return () => fileURLToPath(part.file);
  return (folder) => {
    const path = join(folder, 'part.mjs');
    writeFileSync(path, code, { mode: 0o600 });
    return path;
  };
}

/** Returns `undefined` if the part has a file of its own. */
async function embeddedCode({ file, embedded }: Part): Promise<string | undefined> {
  if (embedded === undefined || existsSync(file)) return undefined;
  return await embedded();
}
