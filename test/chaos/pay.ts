/** A handler that ends its jobs in transactions of its own: one payment per job, whatever happens to its process. */

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type JobContext, job } from '../../src/index.ts';
import { PAYMENTS, payTo } from './payments.ts';

const place = payTo();
const pool = place.url === null ? null : new pg.Pool({ connectionString: place.url, max: 2 });
pool?.on('error', () => undefined);
// In use, a client tells of its lost connection itself. Its statement rejects, too.
pool?.on('connect', (client) => client.on('error', () => undefined));

async function payPostgres(order: string, { complete }: JobContext, clients: pg.Pool): Promise<void> {
  const client = await clients.connect();
  let isWell = false;
  try {
    await client.query('begin');
    await client.query(`insert into ${PAYMENTS} (id) values ($1)`, [order]);
    await complete(client);
    await client.query('commit');
    isWell = true;
  } finally {
    client.release(!isWell);
  }
}

async function paySqlite(order: string, { complete }: JobContext, file: string): Promise<void> {
  using database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec('begin immediate');
  database.prepare(`insert into ${PAYMENTS} (id) values (?)`).run(order);
  await complete(database);
  database.exec('commit');
}

export const pay = job('pay', {
  async run({ order, ms }: { order: string; ms: number }, context) {
    await sleep(ms);
    if (pool !== null) await payPostgres(order, context, pool);
    else await paySqlite(order, context, place.file as string);
  },
});
