/** An installation of real processes: a database, schedulers, workers, and a proxy before each scheduler. */

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { startTcpProxy, type TcpProxy } from '../kit/http-proxy.ts';
import { freePort, type PostgresServer, startPostgres } from '../kit/postgres-server.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

export const LEASE_MS = 10_000;
const PACE = ['--lease', '10s', '--heartbeat', '2s', '--log-level', 'warn'];
const SLOTS = 4;

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
  /** A small disk under the SQLite file; `null` where none can be mounted. */
  disk: string | null = null;
  ports: number[] = [];
  proxies: TcpProxy[] = [];
  schedulers: Member[] = [];
  workers: Member[] = [];

  async start({ store, schedulers, workers }: Installed): Promise<void> {
    this.folder = this.stack.use(await temporaryFolder()).path;
    if (store === 'postgres') this.postgres = this.stack.use(await startPostgres({ durable: true }));
    else this.#mountDisk();
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

  #mountDisk(): void {
    const disk = join(this.folder, 'disk');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk]).status !== 0) return;
    this.disk = disk;
    this.stack.defer(() => void spawnSync('umount', ['-l', disk]));
  }
}
