/** Single submits over HTTP share requests, and nothing else. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER as signal } from '../../src/core/never.ts';
import { job, open } from '../../src/index.ts';
import { openTestServer } from '../kit/http.ts';

const hello = job('hello');

/** A server, and a library that talks to it; `sizes` are the jobs of each request. */
async function scene({ token = null, given = token }: { token?: string | null; given?: string | null } = {}) {
  const stack = new AsyncDisposableStack();
  const sizes: number[] = [];
  const server = await openTestServer({
    token,
    wrap: (scheduler) => ({
      ...scheduler,
      as: (caller) => ({
        ...scheduler.as(caller),
        submit: (submissions, options, signal) => {
          sizes.push(submissions.length);
          return scheduler.as(caller).submit(submissions, options, signal);
        },
      }),
    }),
  });
  stack.use(server);
  const workron = await open(server.url, { log: 'silent', ...(given === null ? {} : { token: given }) });
  stack.defer(() => workron.stop());
  return { workron, sizes, scheduler: server.scheduler, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('submits over HTTP: those of one moment go in one request, and each gets its own answer', async () => {
  await using given = await scene();
  const { workron, sizes, scheduler } = given;
  const places = Array.from({ length: 50 }, (_, place) => place);
  const handles = await Promise.all(places.map((place) => workron.submit(hello, { place })));
  assert.deepEqual(sizes, [50]);
  for (const [place, { id }] of handles.entries()) {
    assert.deepEqual((await scheduler.job(Number(id), signal)).input, { place });
  }
});

test('submits over HTTP: a refused job fails alone, with the same error as if it had been sent alone', async () => {
  await using given = await scene();
  const { workron } = given;
  const answers = await Promise.allSettled(
    [0, 1, 99_999, 2].map((priority, place) => workron.submit(hello, { place }, { priority })),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  const refused = answers[2] as PromiseRejectedResult;
  assert.equal(refused.reason.code, 'bad_request');
  assert.equal(refused.reason.details.errors[0].pointer, '/priority');
});

test('submits over HTTP: where the caller is refused nobody asks again one by one', async () => {
  await using given = await scene({ token: 'right', given: 'wrong' });
  const { workron, sizes } = given;
  const answers = await Promise.allSettled([1, 2, 3].map((place) => workron.submit(hello, { place })));
  for (const answer of answers) {
    assert.equal((answer as PromiseRejectedResult).reason.code, 'unauthorized');
  }
  assert.deepEqual(sizes, []);
});

test('submits over HTTP: with a key, or a signal of its own, one has a request of its own', async () => {
  await using given = await scene();
  const { workron, sizes } = given;
  const giveUp = new AbortController();
  await Promise.all([
    workron.submit(hello, { place: 1 }),
    workron.submit(hello, { place: 2 }),
    workron.submit(hello, { place: 3 }, { unique: { key: 'k' } }),
    workron.submit(hello, { place: 4 }, { idempotencyKey: 'i' }),
    workron.submit(hello, { place: 5 }, { signal: giveUp.signal }),
  ]);
  assert.deepEqual(
    sizes.toSorted((a, b) => a - b),
    [1, 1, 1, 2],
  );
  giveUp.abort(new Error('enough'));
  await assert.rejects(workron.submit(hello, { place: 6 }, { signal: giveUp.signal }), /enough/);
});
