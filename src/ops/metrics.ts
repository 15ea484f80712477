/** What Prometheus sees. Stores and core contain no telemetry; the scheduler reports here, once per batch. */

import { Counter, Gauge, Histogram, Registry } from './prometheus.ts';

export const LIFECYCLE_EVENTS = [
  'submitted',
  'deduplicated',
  'claimed',
  'done',
  'failed',
  'retried',
  'cancelled',
  'skipped',
  'lost',
  'interrupted',
  'snoozed',
  'returned',
  'expired',
  'lease_lost',
] as const;
export type LifecycleEvent = (typeof LIFECYCLE_EVENTS)[number];

const SECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1_000, 3_600];

export class Metrics {
  readonly registry = new Registry();
  readonly jobs: Counter<'event' | 'queue'>;
  readonly wait: Histogram<'queue'>;
  readonly run: Histogram<'queue' | 'outcome'>;
  readonly queueJobs: Gauge<'queue' | 'status'>;
  readonly oldestPending: Gauge<'queue'>;
  readonly workers: Gauge<'state'>;
  readonly slots: Gauge<'state'>;
  /** Asked at every scrape; whoever runs a worker in this process sets it. */
  stuckSlots: () => number = () => 0;
  /** Likewise, by whoever opened the store. */
  storeDeadlocks: () => number = () => 0;
  readonly leader: Gauge<'duty'>;
  readonly ticks: Counter<'verdict'>;
  readonly lateness: Histogram;
  readonly loopErrors: Counter<'loop'>;
  readonly httpRequests: Counter<'route' | 'status'>;

  constructor(version: string, instanceId: string) {
    const registers = [this.registry];
    this.jobs = new Counter({
      name: 'workron_job_events_total',
      help: 'Lifecycle events of jobs',
      labelNames: ['event', 'queue'],
      registers,
    });
    this.wait = new Histogram({
      name: 'workron_job_wait_seconds',
      help: 'From due to started',
      labelNames: ['queue'],
      buckets: SECONDS,
      registers,
    });
    this.run = new Histogram({
      name: 'workron_job_run_seconds',
      help: 'From started to ended, per attempt',
      labelNames: ['queue', 'outcome'],
      buckets: SECONDS,
      registers,
    });
    this.queueJobs = new Gauge({
      name: 'workron_queue_jobs',
      help: 'Unfinished jobs by queue and status',
      labelNames: ['queue', 'status'],
      registers,
    });
    this.oldestPending = new Gauge({
      name: 'workron_queue_oldest_pending_seconds',
      help: 'Age of the oldest claimable job',
      labelNames: ['queue'],
      registers,
    });
    this.workers = new Gauge({
      name: 'workron_workers',
      help: 'Registered workers by state',
      labelNames: ['state'],
      registers,
    });
    this.slots = new Gauge({
      name: 'workron_worker_slots',
      help: 'Slots of online workers, taken and free',
      labelNames: ['state'],
      registers,
    });
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
        help: 'Transactions of this process done again because two waited for each other',
        registers: [],
        collect() {
          this.reset();
          this.inc(storeDeadlocks());
        },
      }),
    );
    this.leader = new Gauge({
      name: 'workron_leader',
      help: '1 where this instance performs the duty',
      labelNames: ['duty'],
      registers,
    });
    this.ticks = new Counter({
      name: 'workron_schedule_ticks_total',
      help: 'Ticks of schedules by what became of them',
      labelNames: ['verdict'],
      registers,
    });
    this.lateness = new Histogram({
      name: 'workron_schedule_lateness_seconds',
      help: 'From the tick of a schedule to the moment at which its run was submitted',
      buckets: SECONDS,
      registers,
    });
    this.loopErrors = new Counter({
      name: 'workron_loop_errors_total',
      help: 'Rounds of background loops that failed',
      labelNames: ['loop'],
      registers,
    });
    this.httpRequests = new Counter({
      name: 'workron_http_requests_total',
      help: 'HTTP requests by route and status',
      labelNames: ['route', 'status'],
      registers,
    });
    const build = new Gauge({
      name: 'workron_build_info',
      help: 'Always 1',
      labelNames: ['version', 'node', 'instance_id'],
      registers,
    });
    build.set({ version, node: process.version, instance_id: instanceId }, 1);
  }

  count(event: LifecycleEvent, queue: string, by = 1): void {
    if (by > 0) this.jobs.inc({ event, queue }, by);
  }
}
