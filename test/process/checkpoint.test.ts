/** Checkpoints of commands in real processes that are killed. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const BYTES = 6 * 1024 * 1024;

/** Writes one large version after the other: its number, repeated. Continues with the number after that of the last one. */
const COUNTS = `
  n=$(head -n 1 "$WORKRON_LAST_CHECKPOINT" 2>/dev/null || echo 10)
  while :; do
    n=$((n + 1))
    yes "$n" | head -c ${BYTES} > "$WORKRON_CHECKPOINT.new" && mv "$WORKRON_CHECKPOINT.new" "$WORKRON_CHECKPOINT"
    sleep 0.2
  done`;

async function readCheckpoint(url: string, id: string): Promise<string | undefined> {
  const response = await fetch(`${url}/jobs/${id}/checkpoint`).catch(() => undefined);
  return response?.status === 200 ? await response.text().catch(() => undefined) : undefined;
}

/** The number of a version, which must be whole. */
function versionOf(text: string): number {
  const number = text.slice(0, text.indexOf('\n'));
  assert.ok(text === `${number}\n`.repeat(BYTES).slice(0, BYTES), `version ${number} is not whole`);
  return Number(number);
}

test('checkpoint: kill -9 in the middle of uploads leaves a whole version, from which the next attempt continues', {
  timeout: 180_000,
}, async () => {
  await using folder = await temporaryFolder();
  const args = ['up', '--port', '0', '--workers', '1', '--db-url', join(folder.path, 'c.db')];
  let id = '';
  let last = 0;
  for (let round = 1; round <= 3; round += 1) {
    await using workron = await startWorkron({ args, env: { WORKRON_LEASE: '3s', WORKRON_HEARTBEAT: '500ms' } });
    if (round === 1) id = (await api<{ id: string }>(workron.url, '/jobs', { command: COUNTS, timeout: '1h' })).id;
    const kept = await readCheckpoint(workron.url, id);
    if (round > 1) {
      const version = versionOf(kept ?? assert.fail('there is a checkpoint'));
      assert.ok(version >= last, `${version} comes after ${last}`);
      last = version;
    }
    const newer = await eventually(
      async () => {
        const text = await readCheckpoint(workron.url, id);
        return text !== undefined && Number(text.slice(0, text.indexOf('\n'))) > last && text;
      },
      { everyMs: 250, withinMs: 60_000 },
    );
    last = versionOf(newer);
    workron.signal('SIGKILL');
    await workron.exited;
  }
});

test('checkpoint: after kill -9 of a worker over HTTP, another one continues from what it stored', {
  timeout: 120_000,
}, async () => {
  await using scheduler = await startWorkron({
    args: ['scheduler', '--port', '0', '--db-url', 'memory:', '--lease', '30m'],
  });
  const startWorker = () => startWorkron({ args: ['worker', '--scheduler', scheduler.url, '--workers', '1'] });
  const command = `
    if [ -e "$WORKRON_LAST_CHECKPOINT" ]; then cat "$WORKRON_LAST_CHECKPOINT"; echo "1 all" > "$WORKRON_PROGRESS"; exit; fi
    head -c 3000000 /dev/zero | tr '\\0' x > "$WORKRON_CHECKPOINT.new"
    mv "$WORKRON_CHECKPOINT.new" "$WORKRON_CHECKPOINT"
    sleep 300`;
  const { id } = await api<{ id: string }>(scheduler.url, '/jobs', { command });
  interface Shown {
    status: string;
    attempts: number;
    progress: unknown;
    checkpoint: { bytes: number; attempt: number } | null;
  }
  const job = () => api<Shown>(scheduler.url, `/jobs/${id}`);
  {
    await using first = await startWorker();
    await eventually(async () => (await job()).checkpoint?.bytes === 3_000_000, { withinMs: 30_000 });
    first.signal('SIGKILL');
    await first.exited;
  }
  await using _second = await startWorker();
  const done = await eventually(
    async () => {
      const found = await job();
      return found.status === 'done' && found;
    },
    { withinMs: 60_000 },
  );
  assert.deepEqual([done.attempts, done.checkpoint?.attempt], [2, 1]);
  assert.deepEqual(done.progress, { fraction: 1, text: 'all' });
  const output = await (await fetch(`${scheduler.url}/jobs/${id}/logs`)).text();
  assert.equal(output, 'x'.repeat(3_000_000));
});
