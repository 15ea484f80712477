/** What handlers throw, as it arrives over HTTP. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fatal, job, open } from '../../src/index.ts';
import { claimOverHttp, openTestServer, type TestServer } from '../kit/http.ts';

const QUOTES = '"'.repeat(1_024);

async function lastAttempt(server: TestServer, id: string) {
  const { body } = await server.call('GET', `/jobs/${id}/attempts`);
  assert.equal(body.items.length, 1);
  return body.items[0];
}

test('thrown: a remote failure with long details and causes arrives at once, without its details', async () => {
  await using server = await openTestServer();
  const workron = await open(server.url, { log: 'silent' });
  let runs = 0;
  const long = job('long', {
    maxAttempts: 3,
    run: (): void => {
      runs += 1;
      let cause: Error | undefined;
      for (let depth = 0; depth < 4; depth += 1) cause = new Error(QUOTES, { cause });
      throw new Fatal('long', { code: 'x', details: 'd'.repeat(8 * 1024 - 2), cause });
    },
  });
  try {
    await workron.start({ jobs: [long] });
    const handle = await workron.submit(long);
    const { status, reason } = await handle.ended();
    assert.deepEqual([status, reason, runs], ['failed', 'fatal', 1]);
    const { thrown } = await lastAttempt(server, handle.id);
    assert.deepEqual([thrown.code, thrown.details, thrown.causes.length], ['x', null, 4]);
    assert.equal(thrown.causes[3].message, QUOTES);
  } finally {
    await workron.stop();
  }
});

const ERROR = { name: 'E', message: 'm', code: null, details: null, causes: [] };
const CAUSE = { name: 'C', message: 'c', code: null };
const CAUSES = Array.from({ length: 16 }, () => ({ name: 'C', message: QUOTES, code: null }));
const SHORTENED = [
  { sent: { ...ERROR, details: { a: 1 } }, kept: { ...ERROR, details: { a: 1 } } },
  { sent: { ...ERROR, details: 'd'.repeat(20_000) }, kept: ERROR },
  { sent: { ...ERROR, details: { a: 1 }, causes: CAUSES }, kept: ERROR },
  { sent: { ...ERROR, details: { a: 1 }, errors: CAUSES }, kept: ERROR },
  { sent: { ...ERROR, errors: [CAUSE] }, kept: { ...ERROR, errors: [CAUSE] } },
  { sent: { ...ERROR, message: 'm'.repeat(20_000) }, kept: null },
];

for (const way of ['settle', 'fail']) {
  test(`thrown: ${way} shortens what is too long, and accepts the failure`, async () => {
    await using server = await openTestServer();
    for (const { sent, kept } of SHORTENED) {
      await server.call('POST', '/jobs', { command: 'a', max_attempts: 1 });
      const { worker, id, attempt } = await claimOverHttp(server);
      const { body } =
        way === 'fail'
          ? await server.call('POST', `/jobs/${id}/fail`, { worker_id: worker, attempt, error: 'no', thrown: sent })
          : await server.call('POST', `/workers/${worker}/settle`, {
              items: [{ job_id: id, attempt, outcome: { type: 'failed', error: 'no', thrown: sent } }],
            });
      assert.equal((way === 'fail' ? body : body.items[0]).result, 'ok', JSON.stringify(body));
      assert.deepEqual((await lastAttempt(server, id)).thrown, kept);
    }
  });
}

test('thrown: a malformed one is refused', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/jobs', { command: 'a' });
  const { worker, id, attempt } = await claimOverHttp(server);
  const failure = { worker_id: worker, attempt, thrown: { ...ERROR, name: 7 } };
  const { status, body } = await server.call('POST', `/jobs/${id}/fail`, failure);
  assert.deepEqual([status, body.code], [400, 'bad_request'], JSON.stringify(body));
});
