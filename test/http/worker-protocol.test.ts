/** The worker that docs/worker-protocol.md shows, run as it stands there. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openTestServer } from '../kit/http.ts';

async function documentedWorker(): Promise<string> {
  const page = await readFile(new URL('../../docs/worker-protocol.md', import.meta.url), 'utf8');
  const script = /```bash\n(#!\/usr\/bin\/env bash\n[\s\S]*?)```/.exec(page)?.[1];
  assert.ok(script);
  return script;
}

test('the documented bash worker runs jobs, reports failures, obeys cancels and leaves when drained', async () => {
  await using stack = new AsyncDisposableStack();
  const token = 'secret';
  const server = stack.use(await openTestServer({ token }));
  const call = (method: string, path: string, body?: unknown) =>
    server.call(method, path, body, { authorization: `Bearer ${token}` });
  const folder = await mkdtemp(join(tmpdir(), 'workron-protocol-'));
  stack.defer(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'worker.sh'), await documentedWorker());

  const command = `printf '%s\\n' "quote\\" back\\\\slash" 'ü €' && echo {"command":"no"}\nprintf 'tab\\there'`;
  const [good, bad, slow, endless] = (
    await call('POST', '/jobs', [
      { command },
      { command: 'echo oops >&2; exit 7', max_attempts: 1 },
      { command: 'sleep 60', timeout: '1ms', max_attempts: 1 },
      { command: 'sleep 60' },
    ])
  ).body.items;
  const worker = spawn('bash', ['worker.sh'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], WORKRON_URL: server.url, WORKRON_TOKEN: token, WORKRON_WAIT: '200ms' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  stack.defer(() => void worker.kill());
  let complaints = '';
  worker.stderr.on('data', (data) => {
    complaints += data;
  });
  const ended = once(worker, 'exit');
  const outcome = async (id: string) => (await call('GET', `/jobs/${id}/wait?timeout=1m`)).body;

  const done = await outcome(good.id);
  assert.deepEqual([done.status, done.attempts, done.exit_code], ['done', 1, 0], complaints);
  assert.equal((await call('GET', `/jobs/${good.id}/logs`)).body, 'quote" back\\slash\nü €\n{command:no}\ntab\there');

  const failed = await outcome(bad.id);
  assert.deepEqual([failed.status, failed.reason, failed.exit_code], ['failed', 'exit', 7]);
  assert.equal((await call('GET', `/jobs/${bad.id}/logs`)).body, 'oops\n');

  const late = await outcome(slow.id);
  assert.deepEqual([late.status, late.reason], ['failed', 'timeout']);

  while ((await call('GET', `/jobs/${endless.id}`)).body.status !== 'running');
  assert.equal((await call('POST', `/jobs/${endless.id}/cancel`)).status, 202);
  assert.equal((await outcome(endless.id)).status, 'cancelled');

  const [registered] = (await call('GET', '/workers')).body.items;
  await call('POST', `/workers/${registered.id}/drain`);
  assert.deepEqual(await ended, [0, null], complaints);
  assert.equal((await call('GET', '/workers')).body.items[0].state, 'offline');
});
