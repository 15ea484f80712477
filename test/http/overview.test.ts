/** What the overview asks for: sums of statistics, and failures by what they have in common. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failures, groupFailures } from '../../src/api/failures.ts';
import { DEFAULT_SPEC, type Job } from '../../src/core/job.ts';
import { sumStats } from '../../src/core/stats.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';

const row = (minute: number, queue: string, outcome: 'done' | 'failed', count: number) => ({
  minute: minute * 60_000,
  instanceId: '',
  queue,
  outcome,
  count,
  wait: [count, 0],
  run: [0, count],
});

test('stats: minutes are summed by step, queues where they are not wanted, outcomes never', () => {
  const rows = [row(1, 'a', 'done', 1), row(2, 'b', 'done', 2), row(2, 'a', 'failed', 4), row(5, 'a', 'done', 8)];
  assert.deepEqual(sumStats(rows, { stepMs: 60_000, queues: true }), rows);
  assert.deepEqual(sumStats(rows, { stepMs: 300_000, queues: false }), [
    { ...row(0, '*', 'done', 3) },
    { ...row(0, '*', 'failed', 4) },
    { ...row(5, '*', 'done', 8) },
  ]);
  assert.equal(sumStats(rows, { stepMs: 300_000, queues: true }).length, 4);
});

test('stats: a step is a whole minute at least, over the wire too', async () => {
  await using server = await openTestServer();
  assert.equal((await server.call('GET', '/stats?step=15m&by=outcome')).status, 200);
  for (const query of ['step=1s', 'step=x', 'by=worker']) {
    assert.equal((await server.call('GET', `/stats?${query}`)).status, 400, query);
  }
});

test('failures: the same name and error are one, whatever number the error carries', () => {
  const job = (id: number, name: string | null, error: string, doneAt: number) =>
    ({ ...DEFAULT_SPEC, id, name, command: 'make all\nmore', error, doneAt, queue: 'q', stepKey: null }) as Job;
  const groups = groupFailures(
    [
      job(4, 'mail', 'exit 1\nno answer to request 8123456', 4_000),
      job(3, null, 'exit 2', 3_000),
      job(2, 'mail', 'exit 1\nno answer to request 7999999', 2_000),
    ],
    { from: 0, to: 24_000 },
  );
  assert.deepEqual(
    groups.map(({ title, error, count, last_job_id }) => ({ title, error, count, last_job_id })),
    [
      { title: 'mail', error: 'exit 1: no answer to request …', count: 2, last_job_id: '4' },
      { title: 'make all', error: 'exit 2', count: 1, last_job_id: '3' },
    ],
  );
  assert.deepEqual(groups[0]?.job_ids, ['4', '2']);
  assert.deepEqual(groups[0]?.trend.slice(0, 6), [0, 0, 1, 0, 1, 0], 'one part of 24 is a second here');
  assert.deepEqual([groups[0]?.first_at, groups[0]?.last_at], ['1970-01-01T00:00:02.000Z', '1970-01-01T00:00:04.000Z']);
});

test('failures: of the last day, over the wire', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { name: 'mail', command: 'false', max_attempts: 1 });
  const { id, attempt, worker } = await claimOverHttp(server);
  await server.call('POST', `/jobs/${id}/fail`, { worker_id: worker, attempt, error: 'exit 1\nrefused' });
  const { body } = await server.call('GET', '/failures');
  Failures.parse(body);
  assert.deepEqual([body.scanned, body.complete, body.items[0].title, body.items[0].count], [1, true, 'mail', 1]);
  assert.equal((await server.call('GET', '/failures?from=2999-01-01T00:00:00Z')).body.items.length, 0);
  assert.equal((await server.call('GET', '/failures?from=x')).status, 400);
});

test('jobs: a list of ids, of children, and of text in the input', async () => {
  await using server = await openTestServer();
  const { body: parent } = await server.call('POST', '/jobs', { handler: 'h', input: { city: 'Lyon' } });
  const { body: child } = await server.call('POST', '/jobs', { command: 'b', depends_on: [parent.id] });
  const ids = async (query: string) =>
    (await server.call('GET', `/jobs?${query}`)).body.items.map((job: { id: string }) => job.id);
  assert.deepEqual(await ids(`ids=${parent.id},${child.id},999`), [child.id, parent.id]);
  assert.deepEqual(await ids(`parent_id=${parent.id}`), [child.id]);
  assert.deepEqual(await ids('q=lyon'), [parent.id]);
  for (const query of ['ids=', 'ids=1,x', 'ids=0', `ids=${Array.from({ length: 201 }, (_, i) => i + 1).join()}`]) {
    assert.equal((await server.call('GET', `/jobs?${query}`)).status, 400, query);
  }
});
