/** The arithmetic of processor time: what is counted for whom. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { type ProcessTimes, parentOf, parseStat, processorTimeUs, treeTicks } from '../../bench/processor-time.ts';
import { totalUs } from '../../bench/usage.ts';

const STAT =
  '4711 (postgres: a (b) c) S 4700 4711 4711 0 -1 4194560 1000 2000 0 0 130 20 7 3 20 0 1 0 5000 200000000 3000 18446744073709551615';

function times(pid: number, parent: number, ownTicks: number, reapedTicks = 0): ProcessTimes {
  return { pid, parent, ownTicks, reapedTicks };
}

test('processor time: a stat line is read whatever the name of the process contains', () => {
  assert.deepEqual(parseStat(STAT), times(4711, 4700, 150, 10));
});

test('processor time: a tree is the roots and all below them, and nobody else', () => {
  const processes = [times(1, 0, 1_000), times(10, 1, 5), times(11, 10, 7), times(12, 11, 9), times(20, 1, 400)];
  assert.equal(treeTicks(processes, [10]), 21);
  assert.equal(treeTicks(processes, [10, 20]), 421);
  assert.equal(treeTicks(processes, [10, 11]), 21);
  assert.equal(treeTicks(processes, [99]), 0);
});

test('processor time: what is left out is left out with all below it', () => {
  const processes = [times(10, 1, 5), times(11, 10, 7), times(12, 11, 9), times(13, 10, 2)];
  assert.equal(treeTicks(processes, [10], [11]), 7);
  assert.equal(treeTicks(processes, [10], [10]), 0);
});

test('processor time: a backend that ends between two readings stays counted', () => {
  const before = [times(10, 1, 5, 100), times(11, 10, 30), times(12, 10, 40)];
  // 11 worked for another 20 ticks and ended: first it waits to be reaped, then its parent has its time.
  const zombie = [times(10, 1, 6, 100), times(11, 10, 50), times(12, 10, 45)];
  const reaped = [times(10, 1, 6, 150), times(12, 10, 45)];
  assert.equal(treeTicks(zombie, [10]) - treeTicks(before, [10]), 26);
  assert.equal(treeTicks(reaped, [10]) - treeTicks(before, [10]), 26);
});

test('processor time: one job costs both sides together', () => {
  assert.equal(totalUs({ nodeUs: 30, serverUs: 50, walBytes: 1, walBytesWithoutPages: 1 }), 80);
});

test('processor time: of a real child that works and ends, nothing is lost', {
  skip: process.platform !== 'linux',
}, async () => {
  const before = processorTimeUs([process.pid]);
  const spin = 'for (let turn = 0; process.cpuUsage().user < 200_000; turn += 1) for (let i = 0; i < 1e6; i += 1);';
  const child = spawn(process.execPath, ['-e', spin], { stdio: 'ignore' });
  assert.equal(parentOf(child.pid as number), process.pid);
  await once(child, 'exit');
  assert.ok(processorTimeUs([process.pid]) - before >= 200_000);
});
