/** An installation of real processes: a database, schedulers, workers, and a proxy before each scheduler. */

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startTcpProxy, type TcpProxy } from '../kit/http-proxy.ts';
import { freePort, type PostgresServer, startPostgres } from '../kit/postgres-server.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

export const LEASE_MS = 10_000;
const PACE = ['--lease', '10s', '--heartbeat', '2s', '--log-level', 'warn'];
const SLOTS = 4;
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

  constructor(name: string, args: (life: number) => string[]) {
    this.name = name;
    this.#args = args;
  }

  get lifeName(): string {
    return `${this.name}-${this.life}`;
  }

  /** Tries until it is up: its database may be away. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      this.life += 1;
      try {
        this.process = await startWorkron({ args: this.#args(this.life) });
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
    const dbUrl = this.postgres?.url ?? `sqlite:${join(this.disk ?? this.folder, 'chaos.db')}`;
    for (let index = 0; index < (store === 'postgres' ? schedulers : 1); index += 1) {
      const port = await freePort();
      this.ports.push(port);
      this.proxies.push(this.stack.use(await startTcpProxy(port)));
      const args = ['scheduler', '--port', String(port), '--db-url', dbUrl, '--reap-every', '3s', ...PACE];
      this.schedulers.push(new Member(`s${index}`, () => args));
    }
    const urls = this.proxies.map(({ port }) => `http://127.0.0.1:${port}`);
    for (let index = 0; index < workers; index += 1) {
      // One of the workers is attached to the database, if it can be.
      const attached = this.postgres !== undefined && index === 0;
      const turned = urls.map((_, offset) => urls[(index + offset) % urls.length]);
      const source = attached ? ['--db-url', dbUrl] : ['--scheduler', turned.join(',')];
      const args = ['worker', ...source, '--workers', String(SLOTS), ...PACE];
      this.workers.push(new Member(`w${index}`, (life) => [...args, '--worker-name', `w${index}-${life}`]));
    }
    for (const member of this.members) this.stack.defer(async () => await member.process?.[Symbol.asyncDispose]());
    await (this.schedulers[0] as Member).start();
    await Promise.all(this.members.slice(1).map((member) => member.start()));
  }

  get members(): Member[] {
    return [...this.schedulers, ...this.workers];
  }

  async query<Row>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.postgres?.url });
    await client.connect();
    try {
      return (await client.query(text)).rows as Row[];
    } finally {
      await client.end();
    }
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
