/**
 * A process that runs commands of the command line one after the other, as bin/workron runs each in a process of its own: hosted-calls.ts
 * starts it. It evaluates main.ts again for each of them; what that imports is loaded once.
 */

import { Readable } from 'node:stream';
import type { Called } from './command-line.ts';
import type { HostedCall } from './hosted-calls.ts';

const main = new URL('../../src/cli/main.ts', import.meta.url).href;
let calls = 0;

process.on('message', (call: HostedCall) => {
  void run(call).then((called) => process.send?.(called));
});

async function run({ args, env, cwd, input }: HostedCall): Promise<Called> {
  calls += 1;
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.argv.splice(2, Infinity, ...args);
  process.exitCode = undefined;
  const stdin = Object.assign(Readable.from(input === '' ? [] : [Buffer.from(input)]), { fd: 0 });
  Object.defineProperty(process, 'stdin', { configurable: true, value: stdin });
  const [stdout, stderr] = [capture(process.stdout), capture(process.stderr)];
  await import(`${main}?${calls}`);
  process.stdout.removeAllListeners('error');
  return { code: process.exitCode ?? 0, stdout: stdout(), stderr: stderr() };
}

/** Keeps what is written to the stream from now on; the returned function gives it. */
function capture(stream: NodeJS.WriteStream): () => string {
  const written: Buffer[] = [];
  stream.write = (data: string | Uint8Array, ...rest: unknown[]) => {
    written.push(Buffer.from(data as string));
    const done = rest.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  return () => Buffer.concat(written).toString();
}
