/** A real PostgreSQL for tests, in a temporary folder, on a free port of the loopback. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statfsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { effort } from '../effort.ts';
import { endOnExit, removeOnExit } from './end-on-exit.ts';
import { findBinaries, type Owner, serverOwner, wantedVersion } from './postgres-binaries.ts';

const SHARED_MEMORY = '/dev/shm';
/** More than the tests with everyday counts write to one server. */
const MEMORY_BYTES = 4 * 1024 ** 3;

export interface PostgresOptions {
  /** Fully durable, as people run it. Without it the disk is not waited for: faster, but only for servers that are never killed. */
  durable?: boolean;
  /** The folder of another version's binaries. */
  bin?: string;
  /** The folder in which its files are made; a temporary one by default. */
  within?: string;
  /** Variables that it runs with. */
  env?: Readonly<Record<string, string>>;
  /** A disk of its own that holds so much (`32m`), for tablespaces. Only where `canMount`. */
  disk?: string;
  /** Further settings: `wal_level=replica`. */
  settings?: readonly string[];
  /** Makes its data folder, such as a copy of another server's. */
  makeData?: (folder: string) => Promise<void>;
}

/** `fast` disconnects everybody, `immediate` dies as in a crash. */
export type StopMode = 'fast' | 'immediate';

export interface PostgresServer extends AsyncDisposable {
  readonly url: string;
  readonly data: string;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
  /** Stops it, and starts it again at the same address. */
  restart(mode: StopMode): Promise<void>;
  /** The two halves of `restart`, for tests that need to look in between. */
  halt(mode: StopMode): Promise<void>;
  resume(): Promise<void>;
  /** False if it was halted, or has died. */
  isRunning(): boolean;
  /** Does not keep the process alive. */
  unref(): void;
  /** Where its disk is, for the server and for us: it is mounted for the server alone, so that it goes with it. */
  disk(): { there: string; here: string };
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const owner = serverOwner();
  const usual = options.durable === true ? onDisk() : [...inMemory(), ...onDisk()];
  const folder = await scratchFolder(owner, options.within === undefined ? usual : [options.within]);
  try {
    const bin = options.bin ?? (await findBinaries(folder, owner));
    const data = join(folder, 'data');
    const made = options.bin === undefined ? process.env['WORKRON_TEST_PG_DATA'] : undefined;
    if (options.makeData !== undefined) await options.makeData(data);
    else if (made !== undefined) copyFolder(made, data);
    else initData(bin, data, owner);
    const { durable = false, disk = null, env = {}, settings = [] } = options;
    const server = new Server({ bin, folder, owner, port: await freePort(), durable, disk, env, settings });
    await server.resume();
    try {
      if (options.bin === undefined) await assertVersion(server.url);
    } catch (error) {
      await server.stop();
      throw error;
    }
    return server;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Throws if the server is not of the version that WORKRON_TEST_PG_VERSION names. */
async function assertVersion(url: string): Promise<void> {
  const wanted = wantedVersion();
  if (wanted === undefined) return;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
  await client.end();
  const version = Math.floor(Number(rows[0]?.server_version_num) / 10_000);
  if (version === wanted) return;
  throw new Error(`expected PostgreSQL ${wanted}, got ${version}: test/postgres has no PostgreSQL ${wanted} installed`);
}

/** A data folder that servers are started with copies of: a copy takes a tenth of the time of initdb. */
export async function makePostgresData(): Promise<{ path: string } & AsyncDisposable> {
  const owner = serverOwner();
  const folder = await scratchFolder(owner, [...inMemory(), ...onDisk()]);
  removeOnExit(folder);
  const path = join(folder, 'data');
  initData(await findBinaries(folder, owner), path, owner);
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function initData(bin: string, data: string, owner: Owner): void {
  const flags = ['--username=postgres', '--auth=trust', '--no-sync', '--locale=C', '--encoding=UTF8'];
  const args = ['-D', data, ...flags];
  const made = spawnSync(join(bin, 'initdb'), args, { cwd: dirname(data), encoding: 'utf8', ...owner });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
}

/** Also copies who owns the files, which `cp` of Node does not. */
function copyFolder(from: string, to: string): void {
  const made = spawnSync('cp', ['-a', from, to], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`cp failed: ${made.error?.message ?? made.stderr}`);
}

interface ServerPlace {
  bin: string;
  folder: string;
  owner: Owner;
  port: number;
  durable: boolean;
  disk: string | null;
  env: Readonly<Record<string, string>>;
  settings: readonly string[];
}

/** Whether the server can be given a disk of its own. */
export function canMount(): boolean {
  if (!('uid' in serverOwner())) return false;
  const tried = spawnSync('unshare', ['-m', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt && setpriv --version']);
  return tried.status === 0;
}

class Server implements PostgresServer {
  readonly url: string;
  readonly data: string;
  readonly #place: ServerPlace;
  #process: ChildProcess | undefined;

  constructor(place: ServerPlace) {
    this.#place = place;
    this.data = join(place.folder, 'data');
    this.url = `postgres://postgres@127.0.0.1:${place.port}/postgres`;
    removeOnExit(place.folder);
    process.once('exit', this.#abandon);
  }

  async resume(): Promise<void> {
    const { folder, owner, port, durable, disk, env } = this.#place;
    const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'max_connections=300'];
    if (!durable) settings.push('fsync=off', 'full_page_writes=off');
    settings.push(...this.#place.settings);
    const [command = '', ...args] = [
      ...this.#command(),
      '-D',
      this.data,
      ...settings.flatMap((setting) => ['-c', setting]),
    ];
    const child = spawn(command, args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, LC_MESSAGES: 'C', ...env },
      ...(disk === null ? owner : {}),
    });
    this.#process = child;
    endOnExit('server', child);
    let said = '';
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk: Buffer) => {
        said = (said + chunk.toString()).slice(-4_000);
        if (/database system is ready to accept (read-only )?connections/.test(said)) resolve();
      });
      child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
      child.once('error', reject);
    });
  }

  /** Whatever comes before it, the started pid is the server. */
  #command(): string[] {
    const { bin, folder, owner, disk } = this.#place;
    const postgres = join(bin, 'postgres');
    if (disk === null || !('uid' in owner)) return [postgres];
    const { uid, gid } = owner;
    const mount = `mkdir -p "$0" && mount -t tmpfs -o size=${disk},uid=${uid},gid=${gid},mode=0700 tmpfs "$0"`;
    const drop = `exec setpriv --reuid=${uid} --regid=${gid} --clear-groups "$@"`;
    return ['unshare', '-m', 'sh', '-c', `${mount} && ${drop}`, join(folder, 'disk'), postgres];
  }

  disk(): { there: string; here: string } {
    const there = join(this.#place.folder, 'disk');
    return { there, here: `/proc/${this.#process?.pid}/root${there}` };
  }

  isRunning(): boolean {
    const child = this.#process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async halt(mode: StopMode): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await once(child, 'exit');
  }

  unref(): void {
    this.#process?.unref();
    (this.#process?.stderr as Socket | null | undefined)?.unref();
  }

  async restart(mode: StopMode): Promise<void> {
    await this.halt(mode);
    await this.resume();
  }

  async stop(): Promise<void> {
    await this.halt('fast');
    process.removeListener('exit', this.#abandon);
    await rm(this.#place.folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** The process that started it goes without having stopped it. */
  readonly #abandon = (): void => {
    this.#process?.kill('SIGQUIT');
    rmSync(this.#place.folder, { recursive: true, force: true, maxRetries: 5 });
  };
}

const onDisk = () => [tmpdir(), '/tmp', '/var/tmp'];

/** The shared memory, where it has room. A schema is hundreds of files, and a disk takes twice the processor time to make and remove them. */
function inMemory(): string[] {
  if (effort.full || !existsSync(SHARED_MEMORY)) return [];
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  return bavail * bsize > MEMORY_BYTES ? [SHARED_MEMORY] : [];
}

/** A folder that the server's user owns and can enter from the root on. */
async function scratchFolder(owner: Owner, parents: readonly string[]): Promise<string> {
  for (const parent of new Set(parents)) {
    const folder = await mkdtemp(join(parent, 'workron-pg-'));
    await chmod(folder, 0o700);
    if (!('uid' in owner)) return folder;
    await chown(folder, owner.uid, owner.gid);
    if (spawnSync('test', ['-w', folder], { cwd: '/', ...owner }).status === 0) return folder;
    await rm(folder, { recursive: true });
  }
  throw new Error('no temporary folder that the user postgres can enter');
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port to be had');
  return address.port;
}
