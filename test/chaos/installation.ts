/** An installation of real processes: a database, schedulers, workers, and a proxy before each scheduler. */

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { startTcpProxy, type TcpProxy } from '../kit/http-proxy.ts';
import { freePort, type PostgresServer, startPostgres } from '../kit/postgres-server.ts';
import { CLONE } from '../kit/program.ts';
import { type StartOptions, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

import { PAYMENTS, payToVariable } from './payments.ts';

export const LEASE_MS = 10_000;
const PACE = ['--lease', '10s', '--heartbeat', '2s', '--log-level', 'warn'];
const SLOTS = 4;
const PAY = ['--handlers', join(import.meta.dirname, 'pay.ts')];
/** Sizes of the small disk. PostgreSQL needs more: its log alone has files of 16 MiB, and its programs may be copied there. */
const DISK = { postgres: '512m', sqlite: '64m' };
const FAKETIME = [
  ...(process.env['LIBFAKETIME'] === undefined ? [] : [process.env['LIBFAKETIME']]),
  ...['x86_64-linux-gnu/faketime', 'aarch64-linux-gnu/faketime', 'faketime'].map(
    (folder) => `/usr/lib/${folder}/libfaketime.so.1`,
  ),
  '/usr/local/lib/faketime/libfaketime.so.1',
];

export interface Installed {
  store: 'postgres' | 'sqlite';
  schedulers: number;
  workers: number;
}

/** A process that is started again under the same name, with a number for each life. */
export class Member {
  readonly name: string;
  /** `undefined` while it is down. */
  process: WorkronProcess | undefined;
  life = 0;
  /** A fault is under way. */
  busy = false;
  readonly #args: (life: number) => string[];
  readonly #options: Partial<StartOptions>;

  constructor(name: string, args: (life: number) => string[], options: Partial<StartOptions> = {}) {
    this.name = name;
    this.#args = args;
    this.#options = options;
  }

  get lifeName(): string {
    return `${this.name}-${this.life}`;
  }

  /** Tries until it is up: its database may be away. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.life += 1;
      try {
        this.process = await startWorkron({ ...this.#options, args: this.#args(this.life) });
        return;
      } catch (error) {
        if (tries === 60) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  async kill(): Promise<void> {
    const { process } = this;
    this.process = undefined;
    process?.signal('SIGKILL');
    await process?.exited;
  }
}

export class Installation implements AsyncDisposable {
  readonly stack = new AsyncDisposableStack();
  folder = '';
  /** The file of SQLite. */
  file = '';
  postgres: PostgresServer | undefined;
  /** A small disk under the database; `null` where none can be mounted. */
  disk: string | null = null;
  /** The file from which libfaketime takes PostgreSQL's clock; `null` where it is not installed. */
  clockFile: string | null = null;
  /** A fault of the database is under way. */
  databaseBusy = false;
  ports: number[] = [];
  proxies: TcpProxy[] = [];
  schedulers: Member[] = [];
  workers: Member[] = [];

  async start({ store, schedulers, workers }: Installed): Promise<void> {
    this.folder = this.stack.use(await temporaryFolder()).path;
    this.#mountDisk(DISK[store]);
    if (store === 'postgres') {
      const within = this.disk === null ? {} : { within: this.disk };
      this.postgres = this.stack.use(await startPostgres({ durable: true, ...within, env: this.#fakeClock() }));
    }
    this.file = join(this.disk ?? this.folder, 'chaos.db');
    const dbUrl = this.postgres?.url ?? `sqlite:${this.file}`;
    if (this.postgres !== undefined) await this.query(`create table ${PAYMENTS} (id text)`);
    const paying = { command: CLONE, env: payToVariable(dbUrl) };
    for (let index = 0; index < (store === 'postgres' ? schedulers : 1); index += 1) {
      const port = await freePort();
      this.ports.push(port);
      this.proxies.push(this.stack.use(await startTcpProxy(port)));
      const args = ['--port', String(port), '--db-url', dbUrl, '--reap-every', '3s', ...PACE];
      // Who owns a file runs the handlers that write to it.
      const role = store === 'postgres' ? ['scheduler'] : ['up', '--workers', String(SLOTS), ...PAY];
      this.schedulers.push(new Member(`s${index}`, () => [...role, ...args], paying));
    }
    const urls = this.proxies.map(({ port }) => `http://127.0.0.1:${port}`);
    for (let index = 0; index < workers; index += 1) {
      // One of the workers is attached to the database, if it can be.
      const attached = this.postgres !== undefined && index === 0;
      const turned = urls.map((_, offset) => urls[(index + offset) % urls.length]);
      const source = attached ? ['--db-url', dbUrl, ...PAY] : ['--scheduler', turned.join(',')];
      const args = ['worker', ...source, '--workers', String(SLOTS), ...PACE];
      this.workers.push(new Member(`w${index}`, (life) => [...args, '--worker-name', `w${index}-${life}`], paying));
    }
    for (const member of this.members) this.stack.defer(async () => await member.process?.[Symbol.asyncDispose]());
    await (this.schedulers[0] as Member).start();
    if (this.postgres === undefined) this.#makePayments();
    await Promise.all(this.members.slice(1).map((member) => member.start()));
  }

  get members(): Member[] {
    return [...this.schedulers, ...this.workers];
  }

  async query<Row>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.postgres?.url });
    // The statement rejects with it, too. Without a listener, it would end the process.
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** The orders that were paid, one for each time. */
  async payments(): Promise<string[]> {
    const text = `select id from ${PAYMENTS}`;
    if (this.postgres !== undefined) return (await this.query<{ id: string }>(text)).map(({ id }) => id);
    using database = new DatabaseSync(this.file, { readOnly: true });
    return database
      .prepare(text)
      .all()
      .map((row) => String(row['id']));
  }

  /** Asks the schedulers in turn until one answers. */
  async ask<T>(path: string, options: RequestInit = {}): Promise<T> {
    let last: unknown;
    for (const port of this.ports) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          ...options,
          signal: AbortSignal.timeout(5_000),
        });
        if (response.ok) return (await response.json()) as T;
        last = new Error(`${path} answered ${response.status}: ${await response.text()}`);
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }

  #makePayments(): void {
    using database = new DatabaseSync(this.file, { timeout: 5_000 });
    database.exec(`create table ${PAYMENTS} (id text)`);
  }

  /** Not in the folder of this installation: PostgreSQL's user could not enter it. */
  #mountDisk(size: string): void {
    const disk = mkdtempSync(join(tmpdir(), 'workron-chaos-'));
    this.stack.defer(() => rmSync(disk, { recursive: true, force: true }));
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'tmpfs', disk]).status !== 0) return;
    this.disk = disk;
    this.stack.defer(() => void spawnSync('umount', ['-l', disk]));
  }

  /** The variables with which libfaketime sets the clock of a process, if it is installed. */
  #fakeClock(): Record<string, string> {
    const library = FAKETIME.find((path) => existsSync(path));
    if (library === undefined) return {};
    const folder = mkdtempSync(join(tmpdir(), 'workron-clock-'));
    this.stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o755);
    this.clockFile = join(folder, 'clock');
    this.setClock('+0');
    return {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.clockFile,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Sets PostgreSQL's clock against the true one, such as `+15` or `-15` (seconds). */
  setClock(offset: string): void {
    writeFileSync(this.clockFile as string, `${offset}\n`, { mode: 0o644 });
  }
}
