/** The servers and files of the contenders: a durable PostgreSQL with default settings, files, and Redis if installed. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../../test/kit/postgres-server.ts';
import { CONTENDERS, type ContenderName } from './contender.ts';
import { FOLDER } from './peers/installed.ts';

export interface Grounds extends AsyncDisposable {
  hasRedis: boolean;
  /** An empty database, file or server for this contender. */
  urlFor(name: ContenderName): Promise<string>;
}

/** Installs the peers on demand: they are no dependency of the product. */
export function installPeers(): void {
  if (existsSync(join(FOLDER, 'node_modules', 'graphile-worker'))) return;
  console.error('installing the peers into bench/race/node_modules …');
  const args = ['install', '--prefix', FOLDER, '--no-audit', '--no-fund', '--no-package-lock'];
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('npm could not install the peers');
}

export async function openGrounds({ redis }: { redis: boolean }): Promise<Grounds> {
  const stack = new AsyncDisposableStack();
  const postgres = stack.use(await startPostgres({ durable: true }));
  const folder = await mkdtemp(join(tmpdir(), 'workron-race-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const hasRedis = redis && spawnSync('redis-server', ['--version']).status === 0;
  const redisUrl = hasRedis ? await startRedis(stack, folder) : '';
  let files = 0;
  return {
    hasRedis,
    async urlFor(name) {
      if (CONTENDERS[name].needs === 'nothing') return '';
      if (CONTENDERS[name].needs === 'redis') return redisUrl;
      if (CONTENDERS[name].needs === 'file') return join(folder, `race-${(files += 1)}.db`);
      if (name !== 'workron-http') return postgres.url;
      return `http://127.0.0.1:${await freePort()}?db=${encodeURIComponent(postgres.url)}`;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Its log is synced every second, as its documentation recommends. */
async function startRedis(stack: AsyncDisposableStack, folder: string): Promise<string> {
  const port = await freePort();
  const args = [
    '--port',
    String(port),
    '--dir',
    folder,
    '--appendonly',
    'yes',
    '--appendfsync',
    'everysec',
    '--save',
    '',
  ];
  const server = spawn('redis-server', args, { stdio: 'ignore' });
  stack.defer(async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
  });
  while (!(await answers(port))) await sleep(50);
  return `redis://127.0.0.1:${port}`;
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const answered = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answered;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
