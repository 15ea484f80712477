import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { effort } from '../effort.ts';
import { fullOnly } from '../full-only.ts';
import { GRAPHS } from '../kit/large-graphs.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

/** What the main thread's old objects may take. At rest they take 40; 100,000 steps at once would take far more. */
const HEAP_MB = 110;

test('a server with little memory takes the largest workflows, and shows them', {
  skip: fullOnly('server with little memory'),
}, async () => {
  await using folder = await temporaryFolder();
  await using workron = await startWorkron({
    args: ['up', '--port', '0', '--role', 'api,scheduler', '--db-url', `sqlite:${join(folder.path, 'workron.db')}`],
    cwd: folder.path,
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
    until: /API\s+http/,
  });
  for (const { text } of Object.values(GRAPHS)) {
    const answer = await fetch(`${workron.url}/workflows`, {
      method: 'POST',
      body: text(effort.largestRequest),
      headers: { 'content-type': 'application/json' },
    });
    const { id } = (await answer.json()) as { id: string };
    assert.equal(answer.status, 201);
    const { steps } = await api<{ steps: unknown[] }>(workron.url, `/workflows/${id}`);
    assert.equal(steps.length, effort.largestRequest);
  }
});
