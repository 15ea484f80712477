/** Processes that start while their PostgreSQL is away. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { startPostgres } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const WAITS = /waiting for the database: The database is not available: connect ECONNREFUSED/;

test('waiting: every role waits for an absent PostgreSQL, says so, is alive and not ready, and goes on when it is there', {
  timeout: 240_000,
}, async () => {
  await using folder = await temporaryFolder();
  await using postgres = await startPostgres();
  await postgres.halt('fast');
  const start = (args: string[], until = WAITS) =>
    startWorkron({ args: [...args, '--db-url', postgres.url], cwd: folder.path, until });
  const serving = /waits for its database; (http:\S+)\/ready/;
  const roles = [['scheduler'], ['up'], ['up', '--role', 'api']];
  const [scheduler, up, onlyApi, worker] = await Promise.all([
    ...roles.map((role) => start([...role, '--port', '0'], serving)),
    start(['worker']),
  ] as const);
  await using stack = new AsyncDisposableStack();
  for (const each of [scheduler, up, onlyApi, worker]) if (each !== undefined) stack.use(each);

  const urls = [scheduler, up, onlyApi].map((each) => serving.exec(each?.output() ?? '')?.[1] ?? assert.fail());
  for (const url of urls) {
    const ready = await fetch(`${url}/ready`);
    const { problems } = (await ready.json()) as { problems: string[] };
    assert.equal(ready.status, 503);
    assert.deepEqual(problems, ['waiting for the database: it cannot be reached; the log says why']);
    const health = await fetch(`${url}/health`);
    assert.deepEqual([health.status, ((await health.json()) as { status: string }).status], [200, 'ok']);
    const refused = await fetch(`${url}/jobs`, { method: 'POST', body: '{"command":"true"}' });
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
    const problem = (await refused.json()) as { code: string; detail: string };
    assert.deepEqual([problem.code, problem.detail], ['store_unavailable', problems[0]]);
  }
  for (const each of [scheduler, up, onlyApi]) assert.match(each?.output() ?? '', WAITS);

  await postgres.resume();
  for (const url of urls) {
    await eventually(async () => (await fetch(`${url}/ready`)).ok, { retryErrors: true });
    const { id } = await api<{ id: string }>(url, '/jobs', { command: 'true' });
    const job = await api<{ status: string }>(url, `/jobs/${id}/wait?timeout=60s`);
    assert.equal(job.status, 'done');
  }
  await eventually(() => worker?.output().includes('Workron is up'));
});

test('waiting: a database that accepts connections and does not answer is waited for as well', {
  timeout: 120_000,
}, async () => {
  await using folder = await temporaryFolder();
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  try {
    const url = `postgres://nobody@127.0.0.1:${(silent.address() as AddressInfo).port}/none`;
    const until = /waits for its database; (http:\S+)\/ready/;
    await using up = await startWorkron({ args: ['up', '--port', '0', '--db-url', url], cwd: folder.path, until });
    const ready = await fetch(`${until.exec(up.output())?.[1]}/ready`);
    assert.deepEqual(await ready.json(), {
      ready: false,
      problems: ['waiting for the database: it has not answered yet'],
    });
    // When the connection has timed out, the next one is tried.
    await eventually(() => up.output().includes('The database is not available: timeout expired'));
    up.signal('SIGTERM');
    assert.equal(await up.exited, 0);
  } finally {
    silent.close();
  }
});

test('waiting: a signal ends the wait, and the process exits with 0', { timeout: 120_000 }, async () => {
  await using folder = await temporaryFolder();
  // A port on which nothing listens.
  const db = ['--db-url', 'postgres://nobody@127.0.0.1:1/none'];
  for (const args of [['up', '--port', '0'], ['worker']]) {
    await using waiting = await startWorkron({ args: [...args, ...db], cwd: folder.path, until: WAITS });
    waiting.signal('SIGTERM');
    assert.equal(await waiting.exited, 0, waiting.output());
  }
});
