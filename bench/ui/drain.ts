/** How fast jobs are drained with many behind them, with the indexes that lists need and without. */

import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { median } from '../measure.ts';
import { sceneOn } from '../scene.ts';
import { measureDrain } from '../throughput.ts';

const INDEXES = ['job_name', 'job_queue', 'job_tagged'];

export interface FullStore {
  open: Parameters<typeof measureDrain>[0];
  /** Statements on a connection of their own. */
  execute: (statements: readonly string[]) => Promise<void>;
  /** How each index is made, by its name. */
  definitions: () => Promise<Map<string, string>>;
  drop: (index: string) => string;
}

export interface DrainFigures {
  with: number;
  without: number;
}

/** Jobs a second, medians of `rounds` taken in turns, so that both meet the same machine. */
export async function compareDrain(store: FullStore, rounds: number, jobs: number): Promise<DrainFigures> {
  const definitions = await store.definitions();
  const figures: { with: number[]; without: number[] } = { with: [], without: [] };
  for (let round = 0; round < rounds; round += 1) {
    figures.with.push(await measureDrain(store.open, jobs));
    await store.execute(INDEXES.map(store.drop));
    figures.without.push(await measureDrain(store.open, jobs));
    await store.execute(INDEXES.map((index) => definitions.get(index) as string));
  }
  return { with: median(figures.with), without: median(figures.without) };
}

export function fullSqlite(file: string): FullStore {
  const within = async <T>(work: (database: DatabaseSync) => T): Promise<T> => {
    const database = new DatabaseSync(file);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    open: async () => sceneOn(await openSqlite({ file, clock: systemClock, log: silentLog })),
    execute: (statements) => within((database) => database.exec(statements.join(';'))),
    definitions: () =>
      within((database) => {
        const rows = database
          .prepare(`select name, sql from sqlite_schema where type = 'index' and sql is not null`)
          .all();
        return new Map(rows.map(({ name, sql }) => [String(name), String(sql)]));
      }),
    drop: (index) => `drop index ${index}`,
  };
}

export function fullPostgres(url: string, schema: string): FullStore {
  const within = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  return {
    open: async () => sceneOn(await openPostgres({ url, schema, poolSize: 10, migrate: true, log: silentLog })),
    execute: (statements) => within(async (client) => void (await client.query(statements.join(';')))),
    definitions: () =>
      within(async (client) => {
        const { rows } = await client.query<{ indexname: string; indexdef: string }>(
          'select indexname, indexdef from pg_indexes where schemaname = $1',
          [schema],
        );
        return new Map(rows.map(({ indexname, indexdef }) => [indexname, indexdef]));
      }),
    drop: (index) => `drop index "${schema}".${index}`,
  };
}
