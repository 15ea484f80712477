import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { NEVER } from '../../src/core/never.ts';
import { job, open } from '../../src/index.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';
import { exerciseLibrary } from './exercise-library.ts';

exerciseLibrary('memory', async () => {
  const workron = await open('memory:', { log: 'silent' });
  return { workron, [Symbol.asyncDispose]: () => workron.stop() };
});

test('stop: a caller that waits for a job reads it once more at the end', async () => {
  const inner = openMemory({ clock: systemClock });
  let slow: Promise<void> | undefined;
  const store: Store = {
    ...inner,
    async read(ids, signal) {
      const jobs = await inner.read(ids, signal);
      await slow;
      return jobs;
    },
  };
  await using workron = await open(store, { log: 'silent' });
  const [started, gate, answer] = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  assert.ok(started !== undefined && gate !== undefined && answer !== undefined);
  const wanted = job('wanted', {
    async run() {
      started.resolve();
      await gate.promise;
      return 'finished';
    },
  });
  await workron.start({ jobs: [wanted] });
  const handle = await workron.submit(wanted);
  await started.promise;
  slow = answer.promise;
  const waiting = handle.result();
  const stopping = workron.stop();
  gate.resolve();
  const isDone = async () => (await inner.read([Number(handle.id)], NEVER))[0]?.status === 'done';
  while (!(await isDone())) await setTimeout(5);
  // Until it is being closed; if that takes longer, the answer is only not as late as it could be.
  await setTimeout(50);
  answer.resolve();
  assert.equal(await waiting, 'finished');
  await stopping;
  await assert.rejects(handle.result(), { code: 'shutting_down' });
});
