/** What people do with schedules, and the duty that judges their ticks, on the memory store in virtual time. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { aSchedule, aTarget, HOUR, MINUTE, PERIOD } from '../../contract/kit/schedules.ts';
import { claimOne, readOne } from '../../contract/kit/steps.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { NEVER as signal } from '../../src/core/never.ts';
import { silentLog } from '../../src/ops/log.ts';
import { runLoop } from '../../src/ops/loop.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { Wake } from '../../src/ops/wake.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { ticker } from '../../src/scheduler/duties/ticker.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { eventually } from '../kit/eventually.ts';

function scene() {
  const clock = new VirtualClock();
  const store = openMemory({ clock });
  const metrics = new Metrics('0', 'me');
  const options = { store, clock, random: () => 0.5, log: silentLog, metrics, instanceId: 'me' };
  const parts = createScheduler({ ...options, leaseMs: 30_000, heartbeatMs: 5_000 });
  return { ...parts, clock, store, metrics, anchor: clock.now() };
}

test('ticker: sleeps until the next tick is due, and is woken by a schedule that is due earlier', async () => {
  const { context, rounds, scheduler, clock, store, anchor } = scene();
  const ended = new AbortController();
  using loop = ticker(context, new Wake());
  const running = runLoop(loop, { ...context, signal: ended.signal, rounds });
  await scheduler.createSchedule(aSchedule({ anchor, everyMs: 5_000 }), signal);
  await eventually(async () => clock.sleeping > 0);
  clock.advance(5_001);
  const [tick] = await eventually(async () => {
    const { items } = await scheduler.ticks('nightly', {}, { before: null, limit: 10 }, signal);
    return items.length > 0 && items;
  });
  assert.equal(tick?.scheduledFor, anchor + 5_000);
  assert.equal((await readOne(store, tick?.jobId ?? 0)).status, 'pending');
  ended.abort();
  await running;
});

test('ticker: counts verdicts, not rows, and measures lateness', async () => {
  const { context, scheduler, clock, metrics, anchor } = scene();
  using loop = ticker(context, new Wake());
  await scheduler.createSchedule(aSchedule({ anchor }), signal);
  for (let step = 0; step < 4; step += 1) {
    clock.advance(PERIOD);
    await loop.tick(signal);
  }
  const values = (await metrics.ticks.get()).values.map(({ labels, value }) => [labels.verdict, value]);
  assert.deepEqual(values, [
    ['ran', 1],
    ['skipped_overlap', 3],
  ]);
  const text = await metrics.registry.getSingleMetricAsString('workron_schedule_lateness_seconds');
  assert.match(text, /workron_schedule_lateness_seconds_count 1/);
});

test('ticker: jobs of schedules count as submitted, by tick or by hand', async () => {
  const { context, scheduler, clock, store, anchor, metrics } = scene();
  using loop = ticker(context, new Wake());
  const target = aTarget({ queue: 'reports' });
  await scheduler.createSchedule(aSchedule({ anchor, target, overlap: 'allow' }), signal);
  const options = { idempotency: { key: 'k', fingerprint: 'f' } };
  for (let twice = 0; twice < 2; twice += 1) await scheduler.runSchedule('nightly', { keys: null }, options, signal);
  const range = { from: anchor - 2 * PERIOD, to: anchor, keys: null, dryRun: false };
  await scheduler.backfillSchedule('nightly', range, {}, signal);
  clock.advance(PERIOD);
  await loop.tick(signal);
  const counted = (await metrics.jobs.get()).values.filter(({ labels }) => labels.event === 'submitted');
  assert.deepEqual(
    counted.map(({ labels, value }) => [labels.queue, value]),
    [['reports', 1 + 2 + 1]],
    'by hand (asked twice, run once), backfilled and by tick',
  );
  await context.telemetry.flush(store, signal);
  const stats = await store.stats({ from: anchor - HOUR, to: anchor + HOUR }, signal);
  const submitted = stats.filter(({ outcome }) => outcome === 'submitted');
  assert.equal(
    submitted.reduce((sum, { count }) => sum + count, 0),
    4,
  );
});

test('ticker: a run that a tick replaces is asked to stop, and then the new one runs', async () => {
  const { context, scheduler, clock, store, anchor } = scene();
  using loop = ticker(context, new Wake());
  await scheduler.createSchedule(aSchedule({ anchor, overlap: 'cancel_other' }), signal);
  clock.advance(PERIOD);
  await loop.tick(signal);
  const lease = await claimOne(store);
  clock.advance(PERIOD);
  await loop.tick(signal);
  assert.notEqual((await readOne(store, lease.job.id)).cancelRequestedAt, null);
  assert.deepEqual((await store.tick({ limit: 1 }, signal)).stop, [], 'once');
  clock.advance(PERIOD);
  await loop.tick(signal);
  const { items } = await scheduler.ticks('nightly', {}, { before: null, limit: 10 }, signal);
  const second = await readOne(store, items[1]?.jobId ?? 0);
  assert.equal(second.status, 'cancelled', 'one that waited is cancelled at once');
});

test('ticker: replacing a chain of waiting runs frees none of them while the oldest one runs', async () => {
  const { context, scheduler, clock, store, anchor } = scene();
  const freed: number[] = [];
  const watched: typeof store = {
    ...store,
    async applyChanges(changes, until) {
      const written = await store.applyChanges(changes, until);
      const pending = await store.list({ statuses: ['pending'] }, { before: null, limit: 10 }, signal);
      freed.push(...pending.map(({ id }) => id));
      return written;
    },
  };
  using loop = ticker({ ...context, store: watched }, new Wake());
  const catchup = { policy: 'all' as const, windowMs: 10 * PERIOD, max: 10 };
  await scheduler.createSchedule(aSchedule({ anchor, overlap: 'cancel_other', catchup }), signal);
  clock.advance(PERIOD);
  await loop.tick(signal);
  const oldest = await claimOne(store);
  clock.advance(3 * PERIOD);
  await loop.tick(signal);
  clock.advance(PERIOD);
  await loop.tick(signal);
  assert.deepEqual(freed, []);
  assert.equal((await readOne(store, oldest.job.id)).status, 'running');
});

test('schedules: every call about an unknown schedule is refused as not found', async () => {
  const { scheduler } = scene();
  const range = { from: 0, to: 1, keys: null, dryRun: true };
  for (const call of [
    scheduler.schedule('none', signal),
    scheduler.editSchedule('none', {}, signal),
    scheduler.deleteSchedule('none', signal),
    scheduler.pauseSchedule('none', null, signal),
    scheduler.resumeSchedule('none', signal),
    scheduler.runSchedule('none', { keys: null }, {}, signal),
    scheduler.backfillSchedule('none', range, {}, signal),
    scheduler.nextTicks('none', 1, signal),
    scheduler.ticks('none', {}, { before: null, limit: 1 }, signal),
  ]) {
    await assert.rejects(call, (error) => isWorkronError(error, 'schedule_not_found'));
  }
  const wrong = aSchedule({ name: 'No Name' });
  await assert.rejects(scheduler.createSchedule(wrong, signal), (error) => isWorkronError(error, 'schedule_invalid'));
});

test('schedules: lists and ledgers come in pages', async () => {
  const { scheduler } = scene();
  for (const name of ['a', 'b', 'c']) await scheduler.createSchedule(aSchedule({ name, overlap: 'allow' }), signal);
  const first = await scheduler.schedules({}, { after: null, limit: 2 }, signal);
  assert.deepEqual([first.items.map(({ name }) => name), first.nextAfter], [['a', 'b'], 'b']);
  const rest = await scheduler.schedules({}, { after: first.nextAfter, limit: 2 }, signal);
  assert.deepEqual([rest.items.map(({ name }) => name), rest.nextAfter], [['c'], null]);
  for (let run = 0; run < 3; run += 1) await scheduler.runSchedule('a', { keys: null }, {}, signal);
  const page = await scheduler.ticks('a', {}, { before: null, limit: 2 }, signal);
  const last = await scheduler.ticks('a', {}, { before: page.nextBefore, limit: 2 }, signal);
  assert.deepEqual([page.items.length, last.items.length, last.nextBefore], [2, 1, null]);
});

test('run: a run that the policy does not let start is refused', async () => {
  const { scheduler } = scene();
  await scheduler.createSchedule(aSchedule(), signal);
  await scheduler.runSchedule('nightly', { keys: null }, {}, signal);
  const again = scheduler.runSchedule('nightly', { keys: null }, {}, signal);
  await assert.rejects(again, (error) => isWorkronError(error, 'illegal_transition'));
});

test('backfill: a dry run lists what would run; the range ends no later than now and has a maximum size', async () => {
  const { scheduler, clock, anchor } = scene();
  await scheduler.createSchedule(aSchedule({ anchor, forEach: ['x', 'y'] }), signal);
  clock.advance(MINUTE);
  const range = { from: anchor - 2 * PERIOD, to: anchor, keys: null, dryRun: true };
  const { missing, ticks } = await scheduler.backfillSchedule('nightly', range, {}, signal);
  assert.deepEqual(
    missing.map(({ key, scheduledFor }) => [key, (scheduledFor - anchor) / PERIOD]),
    [
      ['x', -2],
      ['y', -2],
      ['x', -1],
      ['y', -1],
    ],
  );
  assert.deepEqual(ticks, []);
  const idempotency = { key: 'k', fingerprint: 'f' };
  const wanted = { ...range, dryRun: false };
  const done = await scheduler.backfillSchedule('nightly', wanted, { idempotency }, signal);
  assert.equal(done.ticks.length, 4);
  const replayed = await scheduler.backfillSchedule('nightly', wanted, { idempotency }, signal);
  assert.deepEqual(replayed, { ...done, replayed: true });
  for (const wrong of [
    { ...range, to: anchor + HOUR },
    { ...range, from: anchor - 1_000 * PERIOD },
    { ...range, from: anchor - 1_000_000 * PERIOD },
  ]) {
    const refused = scheduler.backfillSchedule('nightly', wrong, {}, signal);
    await assert.rejects(refused, (error) => isWorkronError(error, 'bad_request'));
  }
});

test('next: the next ticks, paused or not', async () => {
  const { scheduler, anchor } = scene();
  const wanted = aSchedule({ cron: '0 2 * * *', timezone: 'Europe/Berlin', anchor });
  await scheduler.createSchedule(wanted, signal);
  await scheduler.pauseSchedule('nightly', 'holiday', signal);
  const { timezone, ticks } = await scheduler.nextTicks('nightly', 2, signal);
  assert.equal(timezone, 'Europe/Berlin');
  assert.deepEqual(
    ticks.map((at) => new Date(at).toISOString()),
    ['2026-01-01T01:00:00.000Z', '2026-01-02T01:00:00.000Z'],
  );
});

test('ticker: the first rounds of a new leader are small and grow, so that one that lives for a moment makes progress', async () => {
  const { context, scheduler, clock, anchor, store } = scene();
  const sizes: { lines: number; rows: number }[] = [];
  const tick: typeof store.tick = (request, abort) => {
    sizes.push({ lines: request.lines ?? 0, rows: request.limit });
    return store.tick(request, abort);
  };
  using loop = ticker({ ...context, store: { ...store, exclusive: false, tick } }, new Wake());
  const forEach = Array.from({ length: 100 }, (_, key) => `key-${key}`);
  await scheduler.createSchedule(aSchedule({ anchor, forEach, overlap: 'allow' }), signal);
  clock.advance(PERIOD + 1);
  const judged = async () => (await scheduler.ticks('nightly', {}, { before: null, limit: 200 }, signal)).items.length;
  await loop.tick(signal);
  assert.deepEqual([sizes.at(-1), await judged()], [{ lines: 10, rows: 100 }, 10]);
  await loop.tick(signal);
  assert.deepEqual([sizes.at(-1), await judged()], [{ lines: 20, rows: 200 }, 30]);
  for (let round = 0; round < 10; round += 1) await loop.tick(signal);
  assert.deepEqual([sizes.at(-1), await judged()], [{ lines: 1_000, rows: 1_000 }, 100]);
  await loop.standby?.(signal);
  await loop.tick(signal);
  assert.deepEqual(sizes.at(-1), { lines: 10, rows: 100 });
});
