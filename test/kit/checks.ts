/** The parts of the `check` script of package.json, run one after the other beside the tests. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Returns what the parts that fail have printed, or undefined if none fails. */
export async function check(root: string, signal: AbortSignal): Promise<string | undefined> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const printed: string[] = [];
  for (const command of (scripts['check'] ?? 'false').split(' && ')) {
    if (signal.aborted) break;
    const child = spawn('sh', ['-c', `exec ${command} 2>&1`], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const end = () => child.kill();
    signal.addEventListener('abort', end);
    const ended = once(child, 'exit');
    const output = await text(child.stdout);
    const [code] = (await ended) as [number | null];
    signal.removeEventListener('abort', end);
    if (code !== 0) printed.push(`$ ${command}\n${output}`);
  }
  return printed.length === 0 ? undefined : printed.join('\n');
}
