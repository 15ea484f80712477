import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER } from '../../src/core/never.ts';
import { systemClock } from '../../src/ops/clock.ts';

test('clock: a sleep whose time is over ends at once, and the process is not warned', async (t) => {
  const warned: Error[] = [];
  const listener = (warning: Error) => warned.push(warning);
  process.on('warning', listener);
  t.after(() => process.off('warning', listener));
  await systemClock.sleep(-1e-13, NEVER);
  // Warnings are emitted in a later tick.
  await systemClock.sleep(1, NEVER);
  assert.deepEqual(warned, []);
});
