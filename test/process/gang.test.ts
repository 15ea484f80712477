/** A gang on two workers, of which one is killed. */

import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const TOKEN = 'token-of-this-test';

interface WireJob {
  id: string;
  status: string;
  attempts: number;
  failures: number;
  interruptions: number;
  result: unknown;
}

test('gang: kill -9 of a worker stops the members elsewhere by SIGTERM, and all start again; only its own members pay', {
  timeout: 180_000,
}, async () => {
  await using folder = await temporaryFolder();
  const env = { WORKRON_TOKEN: TOKEN };
  // A lease that outlasts the test: members come back by the report of the launcher, and by being stopped.
  const args = ['scheduler', '--port', '0', '--db-url', 'memory:', '--lease', '30m', '--heartbeat', '1s'];
  await using scheduler = await startWorkron({ args, env });
  const startWorker = () => startWorkron({ args: ['worker', '--scheduler', scheduler.url, '--workers', '2'], env });
  await using first = await startWorker();
  await using _second = await startWorker();

  const api = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${scheduler.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${path} answered ${response.status}`);
    return (await response.json()) as T;
  };
  const files = async (start: string) =>
    (await readdir(folder.path)).filter((name) => name.startsWith(start)).toSorted();

  const command = [
    `cd ${folder.path}`,
    'me=$WORKRON_GANG_RANK.$WORKRON_ATTEMPT',
    'touch began.$me',
    'echo "rank=$WORKRON_GANG_RANK" > $WORKRON_OUTPUT',
    'if [ $WORKRON_ATTEMPT = 1 ]; then trap "touch term.$me; exit 0" TERM; while :; do sleep 0.1; done; fi',
  ].join('; ');
  const { items: members } = await api<{ items: WireJob[] }>('/jobs', {
    command,
    gang: { size: 4, spread: 'spread' },
    backoff: { type: 'none' },
    max_attempts: 2,
  });
  await eventually(async () => (await files('began')).length === 4);

  const { items: workers } = await api<{ items: { id: string; pid: number }[] }>('/workers');
  const killed = workers.find(({ pid }) => pid === first.pid) ?? assert.fail('the worker is not registered');
  const before = await Promise.all(members.map(({ id }) => api<WireJob & { worker_id: string }>(`/jobs/${id}`)));
  const guilty = before.filter(({ worker_id }) => worker_id === killed.id).map(({ id }) => id);
  assert.equal(guilty.length, 2, 'two members on each worker');

  first.signal('SIGKILL');
  await eventually(async () => (await files('term')).length >= 2);
  assert.deepEqual(
    (await files('began')).filter((name) => name.endsWith('.2')),
    [],
    'nobody starts while there is no room for all',
  );
  await using _third = await startWorker();
  const ended = await eventually(async () => {
    const all = await Promise.all(members.map(({ id }) => api<WireJob>(`/jobs/${id}`)));
    return all.every(({ status }) => status === 'done') && all;
  });
  assert.deepEqual(
    ended.map(({ id, attempts, failures, interruptions }) => [id, attempts, failures, interruptions]),
    members.map(({ id }) => [id, 2, guilty.includes(id) ? 1 : 0, 0]),
  );
  assert.deepEqual(
    ended.map(({ result }) => result),
    [0, 1, 2, 3].map((rank) => ({ rank: String(rank) })),
  );
  for (const { id } of members) {
    const { items } = await api<{ items: { outcome: string }[] }>(`/jobs/${id}/attempts`);
    assert.equal(items[0]?.outcome, guilty.includes(id) ? 'lost' : 'stopped');
  }
});
