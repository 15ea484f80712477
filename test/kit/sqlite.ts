import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { anOffer } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import type { TestStore } from '../../contract/kit/store.ts';
import type { Clock } from '../../src/core/clock.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { NEVER } from '../../src/core/never.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite, type SqliteStore } from '../../src/store/sqlite/base/open.ts';
import { removeOnExit } from './end-on-exit.ts';

/** A folder of its own for a test's files; disposing it leaves nothing behind. */
export async function aFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'workron-'));
  removeOnExit(path);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function openTestSqlite(): Promise<TestStore & { store: SqliteStore }> {
  const folder = await aFolder();
  const clock = new VirtualClock();
  const store = await openSqlite({ file: join(folder.path, 'workron.db'), clock, log: silentLog });
  return {
    store,
    advance: (ms: number) => Promise.resolve(clock.advance(ms)),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** A file whose threads live on from test to test: starting them takes longer than most tests. */
class Reused {
  readonly store: SqliteStore;
  readonly #file: string;
  readonly #turn: { clock: VirtualClock };

  private constructor(store: SqliteStore, file: string, turn: { clock: VirtualClock }) {
    this.store = store;
    this.#file = file;
    this.#turn = turn;
  }

  static async open(): Promise<Reused> {
    const file = join((await aFolder()).path, 'workron.db');
    const turn = { clock: new VirtualClock() };
    const clock: Clock = {
      now: () => turn.clock.now(),
      monotonicMs: () => turn.clock.monotonicMs(),
      sleep: (ms, signal) => turn.clock.sleep(ms, signal),
    };
    const store = await openSqlite({ file, clock, log: silentLog });
    using database = new DatabaseSync(file);
    database.exec(`vacuum into '${pristine(file)}'`);
    return new Reused(store, file, turn);
  }

  advance(ms: number): void {
    this.#turn.clock.advance(ms);
  }

  /** As the migrations left it; false where a test has closed it. */
  async empty(): Promise<boolean> {
    // Calls are done in order: those that a test gave up are over after this one.
    if (!(await this.#forgets())) return false;
    using database = new DatabaseSync(this.#file);
    database.exec(`attach '${pristine(this.#file)}' as pristine; begin immediate`);
    const tables = database.prepare(`select name from main.sqlite_schema where type = 'table'`).all() as {
      name: string;
    }[];
    for (const { name } of tables) {
      database.exec(`delete from main."${name}"; insert into main."${name}" select * from pristine."${name}"`);
    }
    database.exec('commit');
    this.#turn.clock = new VirtualClock();
    return await this.#forgets();
  }

  /** What a thread knows of a file it forgets with a call that fails. */
  async #forgets(): Promise<boolean> {
    await assert.rejects(this.store.list({}, { before: null, limit: 0.5 }, NEVER));
    try {
      await this.store.claim({ workerId: 0, limit: 1, offer: anOffer(), claimSeq: null }, NEVER);
    } catch (error) {
      return isWorkronError(error, 'worker_not_found');
    }
    throw new Error('a claim of nobody is no failure any more');
  }
}

const pristine = (file: string) => `${file}-pristine`;

const reused: Reused[] = [];

/** `openTestSqlite` for tests by the hundred. */
export async function openEmptiedSqlite(): Promise<TestStore & { store: SqliteStore }> {
  const given = reused.pop() ?? (await Reused.open());
  return {
    store: given.store,
    advance: (ms: number) => Promise.resolve(given.advance(ms)),
    async [Symbol.asyncDispose]() {
      if (await given.empty()) reused.push(given);
    },
  };
}
