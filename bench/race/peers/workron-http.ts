/** Workron with workers over HTTP. The preparing process runs the server on the database. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender, OpenContender } from '../contender.ts';
import { MAIN } from './built.ts';
import { open as openDirect } from './workron.ts';

/** `url` is the address of the server, with that of the database as `?db=…`. */
export const open: OpenContender = async ({ url }): Promise<Contender> => {
  const { origin, port, searchParams } = new URL(url);
  const database = searchParams.get('db') ?? '';
  const remote = await openDirect({ url: origin });
  const stack = new AsyncDisposableStack();
  return {
    ...remote,
    async prepare() {
      const args = [
        'up',
        '--role',
        'api,scheduler',
        '--port',
        port,
        '--db-url',
        database,
        '--log-level',
        'error',
        '--insecure-no-token',
      ];
      const server = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
      stack.defer(async () => {
        if (server.exitCode !== null) return;
        server.kill('SIGTERM');
        await once(server, 'exit');
      });
      while (!(await isReady(origin))) {
        if (server.exitCode !== null) throw new Error(`workron up ended with ${server.exitCode}`);
        await sleep(50);
      }
      await remote.connect();
    },
    async [Symbol.asyncDispose]() {
      await remote[Symbol.asyncDispose]();
      await stack.disposeAsync();
    },
  };
};

function isReady(origin: string): Promise<boolean> {
  return fetch(`${origin}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}
