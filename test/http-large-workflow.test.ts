import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effort } from './effort.ts';
import { openTestServer } from './kit/http.ts';

const COUNT = effort.largestRequest;

/** Last first, so that the order must be found. */
function chain(length: number): string {
  const steps = Array.from({ length }, (_, index) => {
    const parent = index === 0 ? '' : `,"depends_on":"s${index - 1}"`;
    return `{"key":"s${index}","command":"true"${parent}}`;
  });
  return `{"name":"chain","steps":[${steps.reverse().join(',')}]}`;
}

test('a workflow of very many steps is stored whole in one request, and others are served meanwhile', async () => {
  await using server = await openTestServer();
  const ended = new AbortController();
  const submitting = server.call('POST', '/workflows', chain(COUNT)).finally(() => ended.abort());
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
  assert.ok(
    read.steps.every(
      (step: { key: string; depends_on: string[] }, index: number) =>
        step.key === `s${index}` && (index === 0 || step.depends_on[0] === `s${index - 1}`),
    ),
  );
});

test('a cycle among very many steps is found and told', async () => {
  await using server = await openTestServer();
  const body = chain(COUNT).replace('{"key":"s0",', `{"key":"s0","depends_on":"s${COUNT - 1}",`);
  const answer = await server.call('POST', '/workflows', body);
  assert.deepEqual([answer.status, answer.body.code], [400, 'dependency_cycle']);
  assert.match(answer.body.detail, /dependency cycle: s\d+ -> .* more\) -> .*s\d+$/);
});
