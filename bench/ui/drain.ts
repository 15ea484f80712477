/** The drain rate with many stored jobs, with and without the indexes of the lists. */

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
  /** Runs statements on a separate connection. */
  execute: (statements: readonly string[]) => Promise<void>;
  /** The statement that creates each index, by name. */
  definitions: () => Promise<Map<string, string>>;
  drop: (index: string) => string;
}

export interface DrainFigures {
  with: number;
  without: number;
}

/** Jobs per second: medians of `rounds` that alternate, so that changes of the machine affect both. */
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
