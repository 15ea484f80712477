import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effort } from '../effort.ts';
import { openTestServer } from '../kit/http.ts';
import { chain, GRAPHS } from '../kit/large-graphs.ts';

const COUNT = effort.largestRequest;

for (const [shape, { text, parentsOf }] of Object.entries(GRAPHS)) {
  test(`a workflow of very many steps (${shape}) is stored whole in one request, and others are served meanwhile`, async () => {
    await using server = await openTestServer();
    const ended = new AbortController();
    const submitting = server.call('POST', '/workflows', text(COUNT)).finally(() => ended.abort());
    let answered = 0;
    while (!ended.signal.aborted) {
      assert.equal((await server.call('GET', '/health')).status, 200);
      if (!ended.signal.aborted) answered += 1;
    }
    const { status, body } = await submitting;
    assert.deepEqual([status, body.step_counts?.total], [201, COUNT], JSON.stringify(body).slice(0, 500));
    assert.ok(answered > 0, 'no other request was answered in between');
    const { body: read } = await server.call('GET', `/workflows/${body.id}`);
    assert.equal(read.steps.length, COUNT);
    const seen = new Set<string>();
    for (const { key, depends_on } of read.steps as { key: string; depends_on: string[] }[]) {
      assert.ok(depends_on.every((parent) => seen.has(parent)));
      seen.add(key);
      const wanted = parentsOf(Number(key.slice(1)), COUNT).map((parent) => `s${parent}`);
      assert.deepEqual(depends_on, wanted.toSorted(byNumber));
    }
    assert.equal(seen.size, COUNT);
  });
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(1)) - Number(b.slice(1));
}

test('a cycle among very many steps is found and reported', async () => {
  await using server = await openTestServer();
  const body = chain(COUNT).replace('{"key":"s0",', `{"key":"s0","depends_on":"s${COUNT - 1}",`);
  const answer = await server.call('POST', '/workflows', body);
  assert.deepEqual([answer.status, answer.body.code], [400, 'dependency_cycle']);
  assert.match(answer.body.detail, /dependency cycle: s\d+ -> .* more\) -> .*s\d+$/);
});
