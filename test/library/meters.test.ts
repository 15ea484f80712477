import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { job, open } from '../../src/index.ts';
import { Metrics } from '../../src/ops/metrics.ts';

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
/** It collects only when a test asks for it. */
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
const provider = new MeterProvider({ readers: [reader] });

before(() => metrics.setGlobalMeterProvider(provider));
beforeEach(() => exporter.reset());
after(() => provider.shutdown());

/** Collects now, and returns the points of each metric. */
async function collected() {
  exporter.reset();
  await provider.forceFlush();
  const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  return new Map(all.map(({ descriptor, dataPoints }) => [descriptor.name, { descriptor, points: dataPoints }]));
}

const double = job('double', { queue: 'sums', run: (n: number) => 2 * n });

test('meters: counters, histograms and gauges have the names and labels of the Prometheus metrics', async () => {
  await using workron = await open('memory:', { log: 'silent' });
  await workron.submit(double, 1, { queue: 'later', delay: '1h' });
  await workron.start({ jobs: [double] });
  await Promise.all((await workron.submitAll(double, [1, 2, 3])).map((handle) => handle.result()));
  const found = await collected();

  const names = new Metrics('0', 'id').registry.getMetricsAsArray().map(({ name }) => name);
  assert.deepEqual(
    [...found.keys()].filter((name) => !names.includes(name)),
    [],
  );
  const point = (name: string, labels: Record<string, string>) =>
    found
      .get(name)
      ?.points.find(({ attributes }) => Object.entries(labels).every(([label, is]) => attributes[label] === is))?.value;
  assert.equal(point('workron_job_events_total', { event: 'done', queue: 'sums' }), 3);
  assert.equal(point('workron_job_events_total', { event: 'submitted', queue: 'later' }), 1);
  assert.equal(point('workron_queue_jobs', { queue: 'later', status: 'scheduled' }), 1);
  assert.equal(point('workron_workers', { state: 'online' }), 1);
  assert.equal(point('workron_store_deadlocks_total', {}), 0);
  const run = point('workron_job_run_seconds', { queue: 'sums', outcome: 'done' }) as Histogram;
  assert.equal(run.count, 3);
  assert.deepEqual([run.buckets.boundaries[0], run.buckets.boundaries.at(-1)], [0.001, 3_600]);
  assert.equal(found.get('workron_job_run_seconds')?.descriptor.unit, 's');
});

test('meters: two installations in one process are counted apart, and a closed one keeps its counts', async () => {
  await using one = await open('memory:', { log: 'silent' });
  await using two = await open('memory:', { log: 'silent' });
  await one.submit(double, 1, { queue: 'apart' });
  await two.submitAll(double, [1, 2], { queue: 'apart' });
  const values = async (name: string) =>
    ((await collected()).get(name)?.points ?? [])
      .filter(({ attributes }) => attributes['queue'] === 'apart')
      .filter(({ attributes }) =>
        ['submitted', 'pending'].includes(String(attributes['event'] ?? attributes['status'])),
      )
      .map(({ value }) => value as number)
      .toSorted((a, b) => a - b);
  assert.deepEqual(await values('workron_job_events_total'), [1, 2]);
  assert.deepEqual(await values('workron_queue_jobs'), [1, 2]);
  await one.submit(double, 1, { queue: 'apart' });
  await one.stop();
  assert.deepEqual(await values('workron_job_events_total'), [2, 2], 'what was counted before the close is exported');
  assert.deepEqual(await values('workron_queue_jobs'), [1, 2], 'a closed store is not asked: its last value stays');
});
