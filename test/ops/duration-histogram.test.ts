import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Histogram, Registry } from 'prom-client';
import { DurationHistogram } from '../../src/ops/duration-histogram.ts';

const LABELS = ['queue', 'outcome'] as const;
const BOUNDS = [0.001, 0.01, 1, 100];

function pair<Label extends string>(labelNames: readonly Label[]) {
  const options = { name: 'duration_seconds', help: 'Seconds "of" a job', labelNames };
  const ours = new DurationHistogram({ ...options, bounds: BOUNDS });
  const registry = new Registry();
  registry.registerMetric(ours as never);
  const theirRegistry = new Registry();
  const theirs = new Histogram({ ...options, buckets: BOUNDS, registers: [theirRegistry] });
  return { ours, theirs, bodies: () => Promise.all([registry.metrics(), theirRegistry.metrics()]) };
}

test('durations are scraped as from prom-client: bounds included, cumulated, one series per set of labels', async () => {
  const { ours, theirs, bodies } = pair(LABELS);
  for (const seconds of [0, 0.001, 0.0011, 0.5, 1, 100, 100.5, 1e6]) {
    for (const queue of ['default', 'a "quoted"\nname', 'a', 'b']) {
      for (const outcome of ['done', 'failed'] as const) {
        ours.observe({ queue, outcome }, seconds);
        theirs.observe({ queue, outcome }, seconds);
      }
    }
  }
  const [body, expected] = await bodies();
  assert.match(body, /duration_seconds_bucket\{le="0.001",queue="a",outcome="done"\} 2/);
  assert.deepEqual(body.split('\n').sort(), expected.split('\n').sort());
});

test('durations without labels are scraped as zeros before the first', async () => {
  const [body, expected] = await pair([]).bodies();
  assert.match(body, /duration_seconds_count 0/);
  assert.equal(body, expected);
});
