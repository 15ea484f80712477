/**
 * Metrics for OpenTelemetry, by the names of those for Prometheus, if `@opentelemetry/api` is installed and the
 * application has registered a meter provider. Counters and histograms are recorded as they change, so that the last
 * values are exported even if the node is closed first. Gauges are read when the provider collects.
 */

import type * as OpenTelemetry from '@opentelemetry/api';
import { DurationHistogram } from '../ops/duration-histogram.ts';
import { EventCounter } from '../ops/metrics.ts';
import type { SchedulerContext } from '../scheduler/context.ts';
import { readGauges } from '../scheduler/scrape.ts';

type Labels = Readonly<Record<string, string | number>>;

/** Disposing of the answer stops the gauges; `null` if no provider collects metrics. */
export async function exportMetrics(context: SchedulerContext, version: string): Promise<Disposable | null> {
  let api: typeof OpenTelemetry;
  try {
    api = await import('@opentelemetry/api');
  } catch {
    return null;
  }
  const meter = api.metrics.getMeter('workron', version);
  return meter === api.createNoopMeter() ? null : feed(meter, context);
}

function feed(meter: OpenTelemetry.Meter, context: SchedulerContext): Disposable {
  const { registry } = context.telemetry.metrics;
  // One process can have several nodes, and a provider adds nothing that tells them apart.
  const attributes = (labels: Labels) => ({ ...labels, instance_id: context.instanceId });
  const observed = new Map<string, OpenTelemetry.Observable>();
  for (const metric of registry.getMetricsAsArray() as unknown[]) {
    const { name, help: description, type } = metric as { name: string; help: string; type: string };
    const options = { description, ...(name.endsWith('_seconds') ? { unit: 's' } : {}) };
    if (metric instanceof DurationHistogram) {
      const advice = { explicitBucketBoundaries: [...metric.bounds] };
      const histogram = meter.createHistogram(name, { ...options, advice });
      metric.recorder = (seconds, labels) => histogram.record(seconds, attributes(labels));
    } else if (metric instanceof EventCounter) {
      const counter = meter.createCounter(name, options);
      metric.recorder = (by, labels) => counter.add(by, attributes(labels));
    } else if (type === 'counter') {
      observed.set(name, meter.createObservableCounter(name, options));
    } else {
      observed.set(name, meter.createObservableGauge(name, options));
    }
  }
  const closed = new AbortController();
  const observe = async (result: OpenTelemetry.BatchObservableResult) => {
    await readGauges(context, closed.signal);
    for (const { name, values } of await registry.getMetricsAsJSON()) {
      const instrument = observed.get(name);
      if (instrument === undefined) continue;
      for (const { labels, value } of values) result.observe(instrument, value, attributes(labels as Labels));
    }
  };
  const instruments = [...observed.values()];
  meter.addBatchObservableCallback(observe, instruments);
  return {
    [Symbol.dispose]() {
      meter.removeBatchObservableCallback(observe, instruments);
      closed.abort();
    },
  };
}
