/** What `workron status` and the page call wrong: only what is wrong now. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Failures } from '../../src/api/failures.ts';
import type { Queue } from '../../src/api/queue.ts';
import type { ScheduleDetail } from '../../src/api/schedule.ts';
import type { Stats } from '../../src/api/stats.ts';
import { type Watched, worriesOf } from '../../src/api/words/worries.ts';
import type { Worker } from '../../src/api/worker.ts';

const NOW = Date.parse('2026-01-31T09:00:00.000Z');
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();

const online = { state: 'online' } as Worker;
const queue = (name: string, more: Partial<Queue>) =>
  ({ name, paused: false, pending: 0, oldest_pending_at: null, ...more }) as Queue;
const schedule = (name: string, more: Partial<ScheduleDetail>) =>
  ({ name, paused_at: null, next_run: null, last_status: 'done', recent: { done: 1 }, ...more }) as ScheduleDetail;
const item = (queueName: string, outcome: 'done' | 'failed', count: number) => ({ queue: queueName, outcome, count });
const recent = (...items: ReturnType<typeof item>[]) => ({ items }) as unknown as Stats;
const failures = (title: string, last_at: string, queues = ['default']) =>
  ({ items: [{ title, last_at, queues }] }) as unknown as Failures;

function texts(watched: Partial<Watched>): string[] {
  const nothing = { queues: [], workers: [online], schedules: [], recent: undefined, failures: undefined };
  const span = (ms: number) => `${ms / 60_000}m`;
  return worriesOf({ ...nothing, waits: new Map(), now: NOW, span, ...watched }).map(
    ({ tone, text }) => `${tone} ${text}`,
  );
}

test('worries: none where all is well, also after failures that are over', () => {
  assert.deepEqual(texts({}), []);
  assert.deepEqual(texts({ failures: failures('load', ago(60)), recent: recent(item('default', 'done', 3)) }), []);
  assert.deepEqual(texts({ schedules: [schedule('sync', { recent: { failed: 19, done: 1 } })] }), []);
});

test('worries: jobs that fail now, without deliveries, which are told apart', () => {
  const stats = recent(item('default', 'failed', 3), item('etl', 'done', 1), item('workron.notify', 'failed', 2));
  assert.deepEqual(texts({ recent: stats, failures: failures('load', ago(1)) }), [
    'red 3 of 4 jobs failed in the last 15 minutes, most often load',
    'amber 2 notifications could not be delivered in the last 15 minutes',
  ]);
  assert.deepEqual(texts({ recent: recent(item('a', 'failed', 1), item('a', 'done', 99)) }), [
    'amber 1 of 100 jobs failed in the last 15 minutes',
  ]);
});

test('worries: schedules whose last run failed, unless they are paused, and schedules that are late', () => {
  const failing = { last_status: 'failed', recent: { failed: 2, done: 3 } } as const;
  assert.deepEqual(
    texts({ schedules: [schedule('sync', failing), schedule('off', { ...failing, paused_at: ago(1) })] }),
    ['red Schedule sync: 2 of its last 5 runs failed'],
  );
  assert.deepEqual(texts({ schedules: ['a', 'b', 'c', 'd'].map((name) => schedule(name, failing)) }), [
    'red 4 schedules are failing',
  ]);
  assert.deepEqual(texts({ schedules: [schedule('sync', { next_run: ago(3) })] }), ['red Schedule sync is 3m late']);
});

test('worries: a queue that stands still says what its oldest job waits for', () => {
  const waits: Watched['waits'] = new Map([
    ['train', { code: 'worker', lacks: 'tag', what: 'gpu', resources: {}, most: {} }],
    ['mail', { code: 'limit', key: 'customer:42', running: 3, max: 3, ahead: 0, starts_at: null }],
  ]);
  const queues = [
    queue('mail', { pending: 1, oldest_pending_at: ago(6) }),
    queue('train', { pending: 8, oldest_pending_at: ago(2) }),
    queue('soon', { pending: 8, oldest_pending_at: ago(2) }),
    queue('held', { pending: 2, oldest_pending_at: ago(60), paused: true }),
  ];
  assert.deepEqual(texts({ queues, waits }), [
    'red train: 8 jobs have waited up to 2m: waiting for a worker with tag gpu: none is online',
    'amber held: paused, 2 jobs waiting',
    'amber mail: 1 job has waited 6m: waiting for the limit of customer:42: 3 of 3 run',
  ]);
  assert.deepEqual(texts({ queues, waits, workers: [] }), [
    'red No worker is online, and 17 jobs wait (oldest 6m)',
    'amber held: paused, 2 jobs waiting',
  ]);
  assert.deepEqual(texts({ workers: [{ state: 'draining' } as Worker] }), ['amber No worker takes new jobs']);
});
