/** Counts events, for Prometheus and, summed per minute, for `GET /stats`. */

import { type ClaimedJob, isTerminal, type Job } from '../core/job.ts';
import type { Settled, Success } from '../core/lease.ts';
import type { TickVerdict } from '../core/schedule/tick.ts';
import { STAT_BUCKETS_MS, type StatRow } from '../core/stats.ts';
import type { Change } from '../core/transition.ts';
import type { LifecycleEvent, Metrics } from '../ops/metrics.ts';
import type { Store } from '../store/store.ts';
import type { JobLog } from './job-log.ts';

type Outcome = StatRow['outcome'];
interface Row extends StatRow {
  count: number;
  wait: number[];
  run: number[];
}

const EVENT_OF_OUTCOME = {
  done: 'done',
  failed: 'retried',
  timeout: 'retried',
  lost: 'lost',
  interrupted: 'interrupted',
  snoozed: 'snoozed',
  suspended: 'suspended',
  cancelled: 'cancelled',
  returned: 'returned',
  stopped: 'stopped',
} as const satisfies Record<string, LifecycleEvent>;

interface Times {
  dueAt: number;
  startedAt: number;
  endedAt: number;
}

interface Labels {
  readonly queue: string;
  readonly outcome: Outcome;
}

interface TelemetryOptions {
  metrics: Metrics;
  instanceId: string;
  log: JobLog;
  now: () => number;
}

export class Telemetry {
  readonly metrics: Metrics;
  readonly log: JobLog;
  readonly #now: () => number;
  readonly #instanceId: string;
  #rows = new Map<string, Row>();
  /** A cache: most events are counted in the same row as the previous one. */
  #lastRow: Row | undefined;
  #lastLabels: Labels = { queue: '', outcome: 'done' };

  constructor({ metrics, instanceId, log, now }: TelemetryOptions) {
    this.metrics = metrics;
    this.#instanceId = instanceId;
    this.log = log;
    this.#now = now;
  }

  submitted(items: readonly { job: Job; deduplicated: boolean }[]): void {
    const fresh = items.filter(({ deduplicated }) => !deduplicated).map(({ job }) => job);
    const found = items.filter(({ deduplicated }) => deduplicated).map(({ job }) => job);
    for (const [queue, count] of countByQueue(fresh)) this.metrics.count('submitted', queue, count);
    for (const [queue, count] of countByQueue(found)) this.metrics.count('deduplicated', queue, count);
    for (const { createdAt, queue } of fresh) this.#row(createdAt, queue, 'submitted').count += 1;
    this.log.submitted(fresh);
    // A job whose parents have failed ends with its submission.
    for (const job of fresh) if (isTerminal(job.status)) this.endedByGraph(job);
  }

  /** Jobs that were submitted together, by queue: steps of a workflow, items of a group, runs of schedules. */
  started(started: Readonly<Record<string, number>>, at: number, about: object = {}): void {
    for (const [queue, count] of Object.entries(started)) {
      this.metrics.count('submitted', queue, count);
      this.#row(at, queue, 'submitted').count += count;
      this.log.submittedTogether({ queue, jobs: count, ...about });
    }
  }

  /** A job that ended because other jobs did. A group has run without a worker. */
  endedByGraph(job: Job): void {
    const { queue, status, dueAt } = job;
    if (!isTerminal(status)) return;
    const endedAt = job.doneAt ?? dueAt;
    this.metrics.count(status, queue);
    this.#ended(queue, status, { dueAt, startedAt: job.startedAt ?? endedAt, endedAt });
    this.log.ended(job, null);
  }

  /** `counts` has the number of ticks per verdict, which may be more than the number of ledger rows. */
  ticked(
    ticks: readonly { latenessMs: number | null }[],
    counts: Readonly<Partial<Record<TickVerdict, number>>>,
  ): void {
    for (const [verdict, count] of Object.entries(counts)) this.metrics.ticks.add({ verdict }, count);
    for (const { latenessMs } of ticks) if (latenessMs !== null) this.metrics.lateness.observe({}, latenessMs / 1_000);
  }

  claimed(jobs: readonly ClaimedJob[], workerId: number): void {
    this.log.claimed(jobs, workerId);
    for (const [queue, count] of countByQueue(jobs)) this.metrics.count('claimed', queue, count);
    for (const job of jobs) {
      // The wait of a prefetched job is known only when it starts.
      if (!job.prefetched) this.#waited(job);
    }
  }

  /** `successes` are the reports, in the order of the answers. Those with a start were prefetched, and their wait ends with it. */
  settled(answers: readonly Settled[], successes: readonly Pick<Success, 'startedAt'>[] = []): void {
    const counts = new Map<string, number>();
    answers.forEach((answer, place) => {
      if (answer.result !== 'ok' || !answer.fresh) return;
      const { queue } = answer;
      counts.set(queue, (counts.get(queue) ?? 0) + 1);
      this.#ended(queue, 'done', answer);
      if (successes[place]?.startedAt !== undefined) this.#waited(answer);
    });
    for (const [queue, count] of counts) this.metrics.count('done', queue, count);
  }

  #waited({ queue, dueAt, startedAt }: { queue: string; dueAt: number; startedAt: number }): void {
    this.metrics.wait.observe({ queue }, Math.max(0, startedAt - dueAt) / 1_000);
  }

  /** Jobs whose claims went back to their queues, because the answer did not reach the worker. */
  returned(jobs: readonly Job[]): void {
    for (const job of jobs) this.metrics.count('returned', job.queue);
    this.log.returned(jobs);
  }

  leaseLost(count: number): void {
    this.metrics.count('lease_lost', '', count);
  }

  /** `before` is the job that the decision was based on, `after` the job as written. */
  changed(before: Job, after: Job, change: Change): void {
    const { queue } = before;
    if (change.kind === 'requeue') {
      // A member that has succeeded runs again with its gang: it is not done.
      const event = EVENT_OF_OUTCOME[change.record.outcome === 'done' ? 'stopped' : change.record.outcome];
      this.metrics.count(event, queue);
      // Counted when the attempt ended, which is not when the next one is due.
      const endedAt = change.delayMs > 0 ? after.dueAt - Math.round(change.delayMs) : this.#now();
      if (event === 'retried') this.#row(endedAt, queue, 'retried').count += 1;
    }
    this.log.changed(before, after, change);
    if (change.kind !== 'end') return;
    this.metrics.count(change.status, queue);
    if (change.reason === 'lost') this.metrics.count('lost', queue);
    if (change.reason === 'expired') this.metrics.count('expired', queue);
    const endedAt = after.doneAt ?? before.dueAt;
    const startedAt = change.record === null ? endedAt : (before.startedAt ?? endedAt);
    this.#ended(queue, change.status, { dueAt: before.dueAt, startedAt, endedAt });
  }

  #ended(queue: string, outcome: Exclude<Outcome, 'submitted' | 'retried'>, times: Times): void {
    const waitMs = Math.max(0, times.startedAt - times.dueAt);
    const runMs = Math.max(0, times.endedAt - times.startedAt);
    this.metrics.run.observe(this.#labelsOf(queue, outcome), runMs / 1_000);
    const row = this.#row(times.endedAt, queue, outcome);
    row.count += 1;
    increment(row.wait, waitMs);
    increment(row.run, runMs);
  }

  #labelsOf(queue: string, outcome: Outcome): Labels {
    if (this.#lastLabels.queue !== queue || this.#lastLabels.outcome !== outcome) this.#lastLabels = { queue, outcome };
    return this.#lastLabels;
  }

  #row(at: number, queue: string, outcome: Outcome): Row {
    const minute = at - (at % 60_000);
    const last = this.#lastRow;
    if (last?.minute === minute && last.outcome === outcome && last.queue === queue) return last;
    const key = `${minute} ${outcome} ${queue}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      const zeros = () => Array.from({ length: STAT_BUCKETS_MS.length + 1 }, () => 0);
      row = { minute, instanceId: this.#instanceId, queue, outcome, count: 0, wait: zeros(), run: zeros() };
      this.#rows.set(key, row);
    }
    this.#lastRow = row;
    return row;
  }

  /** Writes the sums to the store, and keeps them if that fails. */
  async flush(store: Store, signal: AbortSignal): Promise<void> {
    if (this.#rows.size === 0) return;
    const rows = this.#rows;
    this.#rows = new Map();
    this.#lastRow = undefined;
    try {
      await store.addStats([...rows.values()], signal);
    } catch (error) {
      for (const row of rows.values()) {
        const now = this.#row(row.minute, row.queue, row.outcome);
        now.count += row.count;
        row.wait.forEach((count, index) => (now.wait[index] = (now.wait[index] ?? 0) + count));
        row.run.forEach((count, index) => (now.run[index] = (now.run[index] ?? 0) + count));
      }
      throw error;
    }
  }
}

function countByQueue(jobs: readonly { queue: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { queue } of jobs) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return counts;
}

function increment(histogram: number[], ms: number): void {
  let bucket = STAT_BUCKETS_MS.findIndex((bound) => ms <= bound);
  if (bucket === -1) bucket = STAT_BUCKETS_MS.length;
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}
