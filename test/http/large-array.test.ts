import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effort } from '../effort.ts';
import { openTestServer } from '../kit/http.ts';

const COUNT = effort.largestRequest;

test('a great many jobs in one request are stored in order, and others are served meanwhile', async () => {
  await using server = await openTestServer();
  const body = `[${Array.from({ length: COUNT }, (_, index) => `{"command":"true","name":"n${index}"}`).join(',')}]`;
  const ended = new AbortController();
  const submitting = fetch(`${server.url}/jobs`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  })
    .then(async (response) => ({
      status: response.status,
      body: (await response.json()) as { items: { name: string }[] },
    }))
    .finally(() => {
      ended.abort();
    });
  let answered = 0;
  while (!ended.signal.aborted) {
    assert.equal((await server.call('GET', '/health')).status, 200);
    if (!ended.signal.aborted) answered += 1;
  }
  const answer = await submitting;
  assert.equal(answer.status, 201);
  assert.equal(answer.body.items.length, COUNT);
  assert.ok(answer.body.items.every((job, index) => job.name === `n${index}`));
  assert.ok(answered > 0, 'no other request was answered in between');
});
