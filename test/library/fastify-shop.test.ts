/** The example application, killed again and again while it takes orders. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { createTestDatabase, queriesTo } from '../kit/postgres.ts';

const root = join(import.meta.dirname, '..', '..');

/** Shops that are open at once, each to be killed on its own. */
const SHOPS = Math.min(3, effort.shopKills);

interface Shop {
  url: string;
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/** Answers once the shop is open; `kill` is as hard as it gets. */
async function openShop(env: Record<string, string>): Promise<Shop> {
  const preload = join(root, 'test', 'kit', 'resolve-workron.ts');
  const child = spawn(process.execPath, ['--import', preload, join(root, 'examples', 'fastify-shop', 'shop.ts')], {
    env: { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'), ...process.env, ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const take = (data: Buffer) => {
      output += data.toString();
      const found = /open at (\S+)/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    void exited.then(() => reject(new Error(`the shop did not open:\n${output}`)));
  });
  return {
    url,
    async kill(signal = 'SIGKILL') {
      child.kill(signal);
      await exited;
    },
  };
}

/** Orders, one after the other, until the shop is gone. */
async function order(url: string, counter: { taken: number }): Promise<void> {
  for (;;) {
    try {
      const response = await fetch(`${url}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ item: `item ${counter.taken}` }),
      });
      if (!response.ok) return;
      counter.taken += 1;
    } catch {
      return;
    }
  }
}

test('shop: a job logs after its commit, connections that are cut are opened again, and a closed shop ends at once', async () => {
  await using database = await createTestDatabase();
  const query = queriesTo(database.url);
  const shop = await openShop({ DATABASE_URL: database.url });
  try {
    const body = JSON.stringify({ item: 'a book' });
    const headers = { 'content-type': 'application/json' };
    const post = () => fetch(`${shop.url}/orders`, { method: 'POST', headers, body });
    const { order, job } = (await (await post()).json()) as { order: number; job: string };
    await eventually(async (saw) => {
      const rows = await query<{ data: Buffer }>('select data from workron.log where job_id = $1', [job]);
      return saw(Buffer.concat(rows.map(({ data }) => data)).toString()) === `confirmed order ${order}\n`;
    });
    const cut =
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
    for (let times = 0; times < 20; times += 1) {
      // Orders that are cut may fail, before and between their queries.
      const orders = Promise.allSettled([post(), post()]);
      await sleep(Math.random() * 12);
      await query(cut);
      await orders;
    }
    await eventually(async (saw) => saw((await post()).status) === 201);
  } finally {
    const closedAt = performance.now();
    await shop.kill('SIGTERM');
    assert.ok(performance.now() - closedAt < 5_000, 'the shop ends without waiting for anything');
  }
});

test('shop: killed at random moments, orders and jobs always match, and no order is confirmed twice', async () => {
  await using database = await createTestDatabase();
  const { url } = database;
  const query = queriesTo(url);
  const counter = { taken: 0 };
  const open = () => openShop({ DATABASE_URL: url });
  const killAgainAndAgain = async (first: number): Promise<void> => {
    for (let kill = first; kill < effort.shopKills; kill += SHOPS) {
      const shop = await open();
      const customers = Promise.all([order(shop.url, counter), order(shop.url, counter), order(shop.url, counter)]);
      try {
        if (kill === first) await eventually(() => Promise.resolve(counter.taken > 0));
        await sleep(Math.random() * 400);
      } finally {
        await shop.kill();
        await customers;
      }
      // One statement sees one moment, whatever the other shops are doing.
      const [seen] = await query<{ orders: string; jobs: string }>(
        'select (select count(*) from orders) as orders, (select count(*) from workron.job) as jobs',
      );
      assert.equal(seen?.orders, seen?.jobs, `after kill ${kill}`);
    }
  };
  // The first makes the tables; as it ends by itself, it also leaves its compiled code to the others.
  await (await open()).kill('SIGTERM');
  const shops = await Promise.allSettled(Array.from({ length: SHOPS }, (_, first) => killAgainAndAgain(first)));
  for (const each of shops) if (each.status === 'rejected') throw each.reason;
  const shop = await open();
  await eventually(async () => (await query('select 1 from workron.live limit 1')).length === 0);
  await shop.kill();
  const [end] = await query<Record<'orders' | 'mails' | 'confirmed' | 'done', string>>(`
    select (select count(*) from orders) as orders, (select count(*) from mails) as mails,
      (select count(distinct order_id) from mails) as confirmed,
      (select count(*) from workron.run where status = 'done') as done`);
  assert.ok(counter.taken > 0, 'some orders were taken');
  assert.ok(Number(end?.orders) >= counter.taken, 'every order that was answered is there');
  assert.deepEqual(
    [end?.mails, end?.confirmed, end?.done],
    [end?.orders, end?.orders, end?.orders],
    'one mail and one done job each',
  );
});
