import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Limit, RateList } from '../../src/api/capacity.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { waitsFor } from '../kit/waits-for.ts';

async function claimAll(server: TestServer): Promise<{ workerId: string; commands: string[] }> {
  const { body: registered } = await server.call('POST', '/workers/register', { name: 'w' });
  const { body } = await server.call('POST', '/jobs/claim', { worker_id: registered.worker_id, limit: 10 });
  return { workerId: registered.worker_id, commands: body.items.map(({ command }: { command: string }) => command) };
}

test('limits: a limit is set for all jobs with its key, listed, and removed', async () => {
  await using server = await openTestServer();
  const path = `/limits/${encodeURIComponent('customer:42/ü')}`;
  const { status, body } = await server.call('PUT', path, { max: 2 });
  assert.equal(status, 200);
  assert.deepEqual(Limit.parse(body), { key: 'customer:42/ü', max: 2, running: 0, waiting: 0 });
  assert.deepEqual((await server.call('GET', '/limits')).body.items, [body]);
  assert.equal((await server.call('DELETE', path)).body.max, null);
  assert.deepEqual((await server.call('GET', '/limits')).body.items, []);
  for (const bad of [{}, { max: 0 }, { max: null }, { max: 'x' }, { maxx: 1 }]) {
    assert.equal((await server.call('PUT', path, bad)).status, 400, JSON.stringify(bad));
  }
  assert.equal((await server.call('PUT', `/limits/${'k'.repeat(257)}`, { max: 1 })).status, 400);
});

test('limits: a job says which limit or rate it waits for, with numbers', async () => {
  await using server = await openTestServer();
  const limits = [{ key: 'customer:42', max: 1 }];
  const rates = [{ key: 'api', limit: 1, per: '1h' }];
  await server.call('POST', '/jobs', [
    { command: 'a', limits },
    { command: 'b', limits },
    { command: 'c', rates },
    { command: 'd', rates },
    { command: 'e', limits },
    { command: 'f', rates },
  ]);
  const { workerId, commands } = await claimAll(server);
  assert.deepEqual(commands, ['a', 'c']);
  const waits = async (id: string) => waitsFor((await server.call('GET', `/jobs/${id}`)).body.waiting);
  assert.match(
    await waits('2'),
    /^a place under the limit of customer:42: 1 of 1 run, 1st in line, expected to start by \d{4}-[^ ]+Z$/,
  );
  assert.equal(await waits('5'), 'a place under the limit of customer:42: 1 of 1 run, 2nd in line');
  assert.match(
    await waits('4'),
    /^the rate of api: 1 of 1 have started within 3600 s, it opens at \d{4}-[^ ]+; 1st in line$/,
  );
  const [, opens, starts] =
    /it opens at ([^ ]+); 2nd in line, expected to start at ([^ ]+)$/.exec(await waits('6')) ?? [];
  assert.equal(Date.parse(starts ?? '') - Date.parse(opens ?? ''), 3_600_000);
  const { body } = await server.call('GET', '/rates');
  assert.deepEqual(RateList.parse(body).items, [{ key: 'api', started: 1, opens_at: null, waiting: 2 }]);
  await server.call('POST', '/jobs/1/done', { worker_id: workerId, attempt: 1 });
  assert.match(await waits('2'), /^a free slot/);
});

test('rates: an outcome can close a rate of its job, and no other', async () => {
  await using server = await openTestServer();
  const rates = [{ key: 'api', limit: 10, per: '1s' }];
  await server.call('POST', '/jobs', [{ command: 'a', rates }, { command: 'b' }]);
  const { workerId } = await claimAll(server);
  const outcome = (closes: unknown) => ({ type: 'snoozed', delay: '30s', closes });
  const { body } = await server.call('POST', `/workers/${workerId}/settle`, {
    items: [
      { job_id: '1', attempt: 1, outcome: outcome('all') },
      { job_id: '2', attempt: 1, outcome: outcome({ key: 'other' }) },
    ],
  });
  assert.deepEqual(
    body.items.map(({ result }: { result: string }) => result),
    ['ok', 'ok'],
  );
  const { items } = (await server.call('GET', '/rates')).body;
  assert.deepEqual(
    items.map(({ key, opens_at }: { key: string; opens_at: string | null }) => [key, opens_at !== null]),
    [['api', true]],
  );
  const { body: later } = await server.call('POST', '/jobs', { command: 'c', rates });
  assert.match(
    waitsFor((await server.call('GET', `/jobs/${later.id}`)).body.waiting),
    /rate of api, which was closed: it opens/,
  );
});

test('limits and rates of one key, with the longest window there is, both count', async () => {
  await using server = await openTestServer();
  const job = {
    command: 'a',
    limits: [{ key: 'k', max: 1 }],
    rates: [{ key: 'k', limit: 1, per: '7d', burst: 100_000 }],
    resources: { 'no such': 1 },
  };
  const { resources: _, ...anywhere } = job;
  await server.call('POST', '/jobs', [anywhere, anywhere, job]);
  const { commands } = await claimAll(server);
  assert.equal(commands.length, 1);
  const waits = async (id: string) => waitsFor((await server.call('GET', `/jobs/${id}`)).body.waiting);
  assert.match(await waits('2'), /^a place under the limit of k: 1 of 1 run/);
  assert.equal(await waits('3'), 'a worker with no such 1 (the most that one has: no such 0): none is online');
});

test('metrics: jobs that run under limits and wait for them, and reservations, are counted', async () => {
  await using server = await openTestServer();
  const limits = [{ key: 'k', max: 1 }];
  const rates = [{ key: 'r', limit: 1, per: '1h' }];
  await server.call('POST', '/jobs', [
    { command: 'a', limits },
    { command: 'b', limits },
    { command: 'c', rates },
    { command: 'd', rates },
    { command: 'e', rates },
  ]);
  await claimAll(server);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const value = (series: string) =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.slice(series.length + 1);
  assert.equal(value('workron_limit_jobs{kind="limit",state="running"}'), '1');
  assert.equal(value('workron_limit_jobs{kind="limit",state="waiting"}'), '1');
  assert.equal(value('workron_limit_jobs{kind="rate",state="waiting"}'), '2');
  assert.equal(value('workron_reservations'), '0');
});
