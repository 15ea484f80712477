/** Loaded by `--import`: a meter provider that prints the values of a counter. */

import { metrics } from '@opentelemetry/api';
import { MeterProvider, PeriodicExportingMetricReader, type ResourceMetrics } from '@opentelemetry/sdk-metrics';

const exporter = {
  export({ scopeMetrics }: ResourceMetrics, done: (result: { code: number }) => void) {
    for (const { metrics: found } of scopeMetrics) {
      for (const { descriptor, dataPoints } of found) {
        if (descriptor.name !== 'workron_job_events_total') continue;
        for (const { attributes, value } of dataPoints) console.log('metered', attributes['event'], value);
      }
    }
    done({ code: 0 });
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 100, exportTimeoutMillis: 100 });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
