/** Which scheduler a worker asks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkronError } from '../../src/core/error.ts';
import { NEVER } from '../../src/core/never.ts';
import { FailOver } from '../../src/worker/fail-over.ts';

const away = () => new WorkronError('unreachable', 'away');

test('fail-over: a caller that gave up on a frozen scheduler asks the next one', async () => {
  const failOver = new FailOver(2);
  const asked: number[] = [];
  const send = (place: number, signal: AbortSignal) => {
    asked.push(place);
    if (place === 1) return Promise.resolve('answer');
    return new Promise<string>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
  const caller = new AbortController();
  const first = failOver.send({ deadlineMs: 60_000, send, unanswered: away }, caller.signal);
  caller.abort(new Error('no time left'));
  await assert.rejects(first, /no time left/);
  assert.equal(await failOver.send({ deadlineMs: 60_000, send, unanswered: away }, NEVER), 'answer');
  assert.deepEqual(asked, [0, 1]);
});

test('fail-over: a refusal is an answer, and each scheduler that is away is asked once before the first one again', async () => {
  const failOver = new FailOver(3);
  const asked: number[] = [];
  const send = async (place: number) => {
    asked.push(place);
    throw away();
  };
  await assert.rejects(failOver.send({ deadlineMs: 60_000, send, unanswered: away }, NEVER), { code: 'unreachable' });
  assert.deepEqual(asked, [0, 1, 2, 0]);
  const refuse = async (place: number) => {
    asked.push(place);
    throw new WorkronError('bad_request', 'refused');
  };
  await assert.rejects(failOver.send({ deadlineMs: 60_000, send: refuse, unanswered: away }, NEVER), {
    code: 'bad_request',
  });
  assert.deepEqual(asked, [0, 1, 2, 0, 1]);
});
