/**
 * An application whose jobs log and then end in its own transaction, or lose their lease. It stops Workron and prints the
 * timers that are left, and how long it still lived. Arguments: a file of SQLite, or the URL and the schema of a PostgreSQL.
 */

import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { job, open, type Transaction } from '../../src/index.ts';

const [url = '', schema = 'workron'] = process.argv.slice(2);
const onPostgres = url.startsWith('postgres:');

interface Connection {
  tx: Transaction;
  run(text: string): unknown;
  end(): unknown;
}

async function connect(): Promise<Connection> {
  if (onPostgres) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return { tx: client, run: (text) => client.query(text), end: () => client.end() };
  }
  const db = new DatabaseSync(url, { timeout: 5_000 });
  return { tx: db, run: (text) => db.exec(text), end: () => db.close() };
}

const completes = job('completes', {
  async run(_: unknown, { complete, log }) {
    log('before');
    await connection.run(onPostgres ? 'begin' : 'begin immediate');
    await complete(connection.tx);
    await connection.run('commit');
    log('after');
  },
});
const loses = job('loses', {
  async run(_: unknown, { id, log }) {
    await connection.run(
      `update ${onPostgres ? `"${schema}".` : ''}live set attempt = attempt + 1 where job_id = ${id}`,
    );
    log('too late');
    lost.resolve();
  },
});

const lost = Promise.withResolvers<void>();
const workron = await open(url, { schema, log: 'silent' });
const connection = await connect();
await workron.start({ jobs: [completes, loses] });
await (await workron.submit(completes)).result();
await workron.submit(loses);
await lost.promise;
await workron.stop();
await connection.end();
const stoppedAt = performance.now();
const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
process.once('exit', () => {
  writeSync(1, `${JSON.stringify({ timers: timers.length, lingeredMs: Math.round(performance.now() - stoppedAt) })}\n`);
});
