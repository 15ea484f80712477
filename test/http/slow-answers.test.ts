/** The time limit for sending an answer, with the clock of the timers in the hands of the test. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { openTestServer } from '../kit/http.ts';

const LONG_MS = 10 * 60_000;

test('a read that takes the server long is answered all the same', { timeout: 60_000 }, async (t) => {
  const begun = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  const wrap = (scheduler: Scheduler): Scheduler => ({
    ...scheduler,
    async jobs(...args) {
      begun.resolve();
      await slow.promise;
      return await scheduler.jobs(...args);
    },
  });
  await using server = await openTestServer({ wrap });
  await server.call('POST', '/jobs', { command: 'a' });
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const socket = connect(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data: Buffer) => {
    answer += data.toString();
  });
  const closed = once(socket, 'close');
  socket.write('GET /jobs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  await begun.promise;
  t.mock.timers.tick(LONG_MS);
  t.mock.timers.reset();
  slow.resolve();
  await closed;
  assert.match(answer, /^HTTP\/1\.1 200 /);
});
