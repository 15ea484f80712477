/** A real PgBouncer with transaction pooling in front of the tests' PostgreSQL, where the machine has one. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { endOnExit } from './end-on-exit.ts';
import { eventually } from './eventually.ts';
import { serverOwner } from './postgres-binaries.ts';

const BINARY = ['pgbouncer', '/usr/sbin/pgbouncer'].find((path) => spawnSync(path, ['--version']).status === 0);

/** For `skip`: false if PgBouncer is installed, else the reason. */
export const noPgBouncer = BINARY === undefined ? 'PgBouncer is not installed (apt-get install pgbouncer)' : false;

/** Connections to the returned URL share `poolSize` sessions of the server at `url`. */
export async function startPgBouncer(url: string, poolSize: number): Promise<{ url: string } & AsyncDisposable> {
  const { hostname, port: serverPort, username, pathname } = new URL(url);
  const folder = await mkdtemp(join(tmpdir(), 'workron-bouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${serverPort === '' ? 5432 : serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
`,
  );
  const args = ['-q', join(folder, 'pgbouncer.ini')];
  const bouncer = spawn(BINARY as string, args, { stdio: 'ignore', cwd: folder, ...serverOwner() });
  endOnExit('process', bouncer);
  const pooled = `postgres://${username}@127.0.0.1:${port}${pathname}`;
  await eventually(() => answers(pooled));
  return {
    url: pooled,
    async [Symbol.asyncDispose]() {
      const ended = once(bouncer, 'close');
      if (bouncer.exitCode === null) bouncer.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
