import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { aJob } from '../../../contract/kit/builders.ts';
import { claim, forever, register, submit, succeed } from '../../../contract/kit/steps.ts';
import { statements } from '../../../src/store/postgres/base/sql.ts';
import { effort } from '../../effort.ts';
import { createTestDatabase, openTestPostgres } from '../../kit/postgres.ts';

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** The pages that a claim reads to find jobs with limits, while so many jobs of a full key wait. */
async function pagesRead(waiting: number, most = Number.POSITIVE_INFINITY): Promise<number> {
  await using database = await createTestDatabase();
  await using given = await openTestPostgres(database);
  const { store, schema, url } = given;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // An analyze of autovacuum would keep dead rows from the vacuum below.
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
    [schema],
  );
  for (const { name } of tables) await client.query(`alter table ${name} set (autovacuum_enabled = off)`);
  const { id } = await register(store, { leaseMs: 3_600_000 });
  const full = [{ key: 'full', max: 1 }];
  for (let left = waiting + 1; left > 0; left -= 5_000) {
    await submit(
      store,
      Array.from({ length: Math.min(left, 5_000) }, () => aJob({ limits: full })),
    );
  }
  assert.equal((await claim(store, id, { limit: 1 })).length, 1);
  for (let parked = -1, before = -2; parked > before; ) {
    assert.equal((await claim(store, id, { limit: 1 })).length, 0);
    [before, parked] = [parked, (await store.limits(forever))[0]?.waiting ?? 0];
  }
  assert.deepEqual(await store.limits(forever), [{ key: 'full', max: null, running: 1, waiting }]);
  await submit(
    store,
    Array.from({ length: 10 }, (_, n) => aJob({ limits: [{ key: `other ${n}`, max: 1 }] })),
  );

  await client.query('set enable_seqscan = off; set enable_bitmapscan = off');
  const { rows } = await client.query<{ id: number }>(`select id from "${schema}".lane`);
  const lanes = `{${rows.map((row) => row.id).join(',')}}`;
  const { openedParkings, meteredHeads } = statements(schema, { prepared: false });
  const measure = async (): Promise<number> => {
    await client.query(`vacuum analyze "${schema}".live`);
    let pages = 0;
    for (const [statement, values] of [
      [openedParkings, [lanes, id]],
      [meteredHeads, [lanes, `{${rows.map(() => 10).join(',')}}`, id]],
    ] as const) {
      await client.query('begin');
      const text = `explain (analyze, buffers, format json) ${statement.text}`;
      const explained = await client.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(text, [...values]);
      await client.query('rollback');
      const plan = explained.rows[0]?.['QUERY PLAN'][0]?.Plan as Plan;
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    }
    return pages;
  };
  // While a transaction of another test is open, a vacuum leaves rows that are dead.
  let least = await measure();
  for (let again = 0; least > most && again < 40; again += 1) {
    await setTimeout(500);
    least = Math.min(least, await measure());
  }
  await client.end();
  const others = await claim(store, id, { limit: 100 });
  assert.equal(others.length, 10);
  for (const job of others) await succeed(store, { job, workerId: id });
  return least;
}

test('postgres: a claim reads no more pages while many jobs of a full key wait', async () => {
  const few = await pagesRead(10);
  const many = await pagesRead(effort.parkedJobs, few * 1.15);
  assert.ok(many <= few * 1.15, `${few} pages with 10 waiting jobs, ${many} with ${effort.parkedJobs}`);
});
