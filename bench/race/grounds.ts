/** Where the contenders run: a durable PostgreSQL with default settings, files, and Redis where it is installed. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgres } from '../../test/kit/postgres-server.ts';
import { type Admin, connectAdmin } from '../admin.ts';
import { type ContenderName, entryOf } from './contender.ts';
import { FOLDER, installed } from './peers/installed.ts';

export interface Grounds extends AsyncDisposable {
  hasRedis: boolean;
  /** A fresh place for one round of this contender: what another left there costs it nothing. */
  open(name: ContenderName): Promise<Ground>;
}

/** One contender's place. The race looks at it through connections of its own. */
export interface Ground extends AsyncDisposable {
  url: string;
  /** Only on PostgreSQL. */
  admin: Admin | undefined;
  /** The first process of the database server; `undefined` where there is none. */
  server: number | undefined;
  /** Whether another connection sees a job that waits or runs. */
  hasUnfinished(): Promise<boolean>;
  /** How many such jobs another connection sees. */
  countUnfinished(): Promise<number>;
}

/** Peers are no dependency of the product, so they are installed when they are needed. */
export function installPeers(): void {
  if (existsSync(join(FOLDER, 'node_modules', '@dbos-inc'))) return;
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
  const redisServer = hasRedis ? await startRedis(stack, folder) : { url: '', pid: 0 };
  let rounds = 0;
  return {
    hasRedis,
    async open(name) {
      rounds += 1;
      switch (entryOf(name).needs) {
        case 'nothing':
          return emptyGround();
        case 'redis':
          return await redisGround(name, redisServer);
        case 'file':
          return fileGround(name, join(folder, `race-${rounds}.db`));
        case 'postgres':
          return await postgresGround(name, postgres.url, `race_${rounds}`);
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A database of its own, so that autovacuum finds nothing there that other contenders left. */
async function postgresGround(name: ContenderName, serverUrl: string, database: string): Promise<Ground> {
  await execute(serverUrl, `create database ${database}`);
  const databaseUrl = Object.assign(new URL(serverUrl), { pathname: database }).href;
  const admin = await connectAdmin(databaseUrl);
  const { unfinished } = entryOf(name);
  const server = `http://127.0.0.1:${await freePort()}?db=${encodeURIComponent(databaseUrl)}`;
  return {
    url: name === 'workron-http' ? server : databaseUrl,
    admin,
    server: admin.postmaster,
    hasUnfinished: () => admin.exists(unfinished),
    countUnfinished: () => admin.count(unfinished),
    async [Symbol.asyncDispose]() {
      await admin[Symbol.asyncDispose]();
      await execute(serverUrl, `drop database ${database} with (force)`);
    },
  };
}

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Its processor time is that of the process that opens it. */
function fileGround(name: ContenderName, file: string): Ground {
  let opened: DatabaseSync | undefined;
  const count = (limit: string) => {
    opened ??= new DatabaseSync(file, { readOnly: true });
    const text = `select count(*) as count from (select 1 from ${entryOf(name).unfinished} ${limit})`;
    return Number(opened.prepare(text).get()?.['count']);
  };
  return {
    url: file,
    admin: undefined,
    server: undefined,
    hasUnfinished: async () => count('limit 1') > 0,
    countUnfinished: async () => count(''),
    async [Symbol.asyncDispose]() {
      opened?.close();
    },
  };
}

interface Redis {
  flushall(): Promise<unknown>;
  llen(key: string): Promise<number>;
  disconnect(): void;
}

async function redisGround(name: ContenderName, { url, pid }: { url: string; pid: number }): Promise<Ground> {
  const { Redis } = await installed<{ Redis: new (url: string) => Redis }>('ioredis');
  const client = new Redis(url);
  await client.flushall();
  const countUnfinished = async () => {
    const lengths = await Promise.all(
      entryOf(name)
        .unfinished.split(' ')
        .map((key) => client.llen(key)),
    );
    return lengths.reduce((sum, length) => sum + length, 0);
  };
  return {
    url,
    admin: undefined,
    server: pid,
    hasUnfinished: async () => (await countUnfinished()) > 0,
    countUnfinished,
    async [Symbol.asyncDispose]() {
      client.disconnect();
    },
  };
}

function emptyGround(): Ground {
  return {
    url: '',
    admin: undefined,
    server: undefined,
    hasUnfinished: async () => false,
    countUnfinished: async () => 0,
    async [Symbol.asyncDispose]() {},
  };
}

/** Writes its log to the disk every second, as its makers recommend: no submit waits for that. */
async function startRedis(stack: AsyncDisposableStack, folder: string): Promise<{ url: string; pid: number }> {
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
  return { url: `redis://127.0.0.1:${port}`, pid: server.pid ?? 0 };
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
