import type Client from 'prom-client';
import counter from 'prom-client/lib/counter.js';
import gauge from 'prom-client/lib/gauge.js';
import registry from 'prom-client/lib/registry.js';
import { DurationHistogram } from './duration-histogram.ts';

/** The Prometheus metrics. Stores and core contain no telemetry; the scheduler reports here, once per batch. */

/*
 * The parts of prom-client that are used, imported file by file: the whole package loads ten times as much, including a
 * push gateway and OpenTelemetry.
 */
const Counter: typeof Client.Counter = counter;

const Gauge: typeof Client.Gauge = gauge;
type Gauge<Label extends string = string> = Client.Gauge<Label>;

const Registry: typeof Client.Registry = registry;

/** Called with each value as it is counted or observed. */
type Recorder = (value: number, labels: Readonly<Record<string, string | number>>) => void;

export class EventCounter<Label extends string> extends Counter<Label> {
  readonly name: string;
  readonly help: string;
  /** Unset unless somebody else wants the events too. */
  recorder: Recorder | undefined;

  constructor({ name, help, labelNames }: { name: string; help: string; labelNames: Label[] }) {
    super({ name, help, labelNames, registers: [] });
    this.name = name;
    this.help = help;
  }

  add(labels: Readonly<Record<Label, string | number>>, by = 1): void {
    this.inc(labels, by);
    this.recorder?.(by, labels);
  }
}

export type LifecycleEvent =
  | 'submitted'
  | 'deduplicated'
  | 'claimed'
  | 'done'
  | 'failed'
  | 'retried'
  | 'cancelled'
  | 'skipped'
  | 'lost'
  | 'interrupted'
  | 'snoozed'
  | 'suspended'
  | 'returned'
  | 'stopped'
  | 'expired'
  | 'lease_lost';

const SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_600];

export class Metrics {
  readonly registry = new Registry();
  readonly jobs = this.#counter('workron_job_events_total', 'Lifecycle events of jobs', ['event', 'queue']);
  readonly wait = this.#histogram('workron_job_wait_seconds', 'Seconds from due to started', ['queue']);
  readonly run = this.#histogram('workron_job_run_seconds', 'Seconds from started to ended, per attempt', [
    'queue',
    'outcome',
  ]);
  readonly queueJobs = this.#gauge('workron_queue_jobs', 'Unfinished jobs by queue and status', ['queue', 'status']);
  readonly oldestPending = this.#gauge('workron_queue_oldest_pending_seconds', 'Age of the oldest claimable job', [
    'queue',
  ]);
  readonly limits = this.#gauge(
    'workron_limit_jobs',
    'Jobs that count against a limit, and jobs that wait for a limit or rate',
    ['kind', 'state'],
  );
  readonly parkingsHealed = this.#counter(
    'workron_parkings_healed_total',
    'Limits that jobs waited for although no job held them, and that were opened; not 0 is a bug',
    [],
  );
  readonly workers = this.#gauge('workron_workers', 'Registered workers by state', ['state']);
  readonly reservations = this.#gauge('workron_reservations', 'Workers that hold resources for a job', []);
  readonly slots = this.#gauge('workron_worker_slots', 'Slots of online workers, taken and free', ['state']);
  readonly leader = this.#gauge('workron_leader', '1 if this instance leads the duty, else 0', ['duty']);
  readonly ticks = this.#counter('workron_schedule_ticks_total', 'Ticks of schedules by verdict', ['verdict']);
  readonly lateness = this.#histogram(
    'workron_schedule_lateness_seconds',
    'Seconds from the tick of a schedule to the submission of its run',
    [],
  );
  readonly loopErrors = this.#counter(
    'workron_loop_errors_total',
    'Failed rounds of background loops, or of parts of the pruner',
    ['loop'],
  );
  readonly httpRequests = this.#counter('workron_http_requests_total', 'HTTP requests by route and status', [
    'route',
    'status',
  ]);
  /** Called at every scrape; set by the process if it runs a worker. */
  stuckSlots: () => number = () => 0;
  /** Called at every scrape; set when the store is opened. */
  storeDeadlocks: () => number = () => 0;

  constructor(version: string, instanceId: string) {
    const build = this.#gauge('workron_build_info', 'Always 1', ['version', 'node', 'instance_id']);
    build.set({ version, node: process.version, instance_id: instanceId }, 1);
    const stuckSlots = () => this.stuckSlots();
    this.registry.registerMetric(
      new Gauge({
        name: 'workron_stuck_slots',
        help: 'Slots of this process held by handlers that ignore their signal',
        registers: [],
        collect() {
          this.set(stuckSlots());
        },
      }),
    );
    const storeDeadlocks = () => this.storeDeadlocks();
    this.registry.registerMetric(
      new Counter({
        name: 'workron_store_deadlocks_total',
        help: 'Transactions of this process that were repeated after a deadlock',
        registers: [],
        collect() {
          this.reset();
          this.inc(storeDeadlocks());
        },
      }),
    );
  }

  count(event: LifecycleEvent, queue: string, by = 1): void {
    if (by > 0) this.jobs.add({ event, queue }, by);
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): EventCounter<Label> {
    const counter = new EventCounter({ name, help, labelNames });
    this.registry.registerMetric(counter);
    return counter;
  }

  #gauge<Label extends string>(name: string, help: string, labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  #histogram<Label extends string>(name: string, help: string, labelNames: Label[]): DurationHistogram<Label> {
    const histogram = new DurationHistogram({ name, help, labelNames, bounds: SECONDS });
    this.registry.registerMetric(histogram as unknown as Client.Metric);
    return histogram;
  }
}
