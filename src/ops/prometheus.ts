/**
 * The parts of prom-client that are used, imported file by file: the whole package loads ten times as much, including a
 * push gateway and OpenTelemetry.
 */

import type Client from 'prom-client';
import counter from 'prom-client/lib/counter.js';
import gauge from 'prom-client/lib/gauge.js';
import histogram from 'prom-client/lib/histogram.js';
import registry from 'prom-client/lib/registry.js';

export const Counter: typeof Client.Counter = counter;
export type Counter<Label extends string = string> = Client.Counter<Label>;

export const Gauge: typeof Client.Gauge = gauge;
export type Gauge<Label extends string = string> = Client.Gauge<Label>;

export const Histogram: typeof Client.Histogram = histogram;
export type Histogram<Label extends string = string> = Client.Histogram<Label>;

export const Registry: typeof Client.Registry = registry;
