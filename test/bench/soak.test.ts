/** What a soak calls flat. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sample } from '../../bench/soak/sample.ts';
import { verdicts } from '../../bench/soak/verdict.ts';

const MB = 1024 * 1024;

/** Samples of 30 seconds at 100 jobs a second; `change` may alter each. */
function samples(change: (sample: Sample, second: number) => void = () => undefined): Sample[] {
  return Array.from({ length: 30 }, (_, at) => {
    const sample: Sample = {
      at,
      submitted: at * 100,
      ended: at * 100,
      unfinished: 10,
      kept: 1_000,
      p50: 5,
      p99: 50,
      relations: new Map([['run', { bytes: 100 * MB, dead: 0 }]]),
      memory: new Map([['worker 1', 200 * MB]]),
    };
    change(sample, at);
    return sample;
  });
}

const growing = (taken: Sample[]) =>
  verdicts(taken, 100)
    .filter(({ isFlat }) => !isFlat)
    .map(({ what }) => what);

test('soak: a steady load is flat', () => {
  assert.deepEqual(growing(samples()), []);
});

test('soak: what grows after the first third is named', () => {
  const leak = samples(({ memory, relations }, second) => {
    memory.set('worker 1', (200 + 5 * second) * MB);
    relations.set('run', { bytes: (100 + 5 * second) * MB, dead: 0 });
  });
  assert.deepEqual(growing(leak), ['memory of worker 1', 'run']);
  const early = samples(({ memory }, second) => {
    memory.set('worker 1', Math.min(second, 10) * 20 * MB);
  });
  assert.deepEqual(growing(early), []);
});

test('soak: a rate below the load, a backlog and a rising p99 are not flat', () => {
  const slow = samples((sample, second) => {
    sample.ended = second * 90;
    sample.unfinished = second * 10;
    sample.p99 = 50 + second * 20;
  });
  assert.deepEqual(growing(slow), ['ended', 'unfinished', 'submission to end, p99']);
});
