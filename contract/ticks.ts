import assert from 'node:assert/strict';
import { jitterMs } from '../src/core/schedule/jitter.ts';
import type { Schedule } from '../src/core/schedule/schedule.ts';
import {
  aTarget,
  changeSchedule,
  HOUR,
  ledger,
  MINUTE,
  makeSchedule,
  PERIOD,
  story,
  tickAll,
} from './kit/schedules.ts';
import { claimOne, forever, readOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseTicks(open: OpenStore): void {
  const test = withStore(open);

  test('ticks: a tick runs once, with its job and its lateness, and the next tick is computed from it', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { target: aTarget({ queue: 'reports', priority: 5 }) });
    assert.deepEqual(await tickAll(store), []);
    await advance(PERIOD + 3_000);
    const [tick, ...others] = await tickAll(store);
    assert.ok(tick);
    assert.deepEqual(others, []);
    assert.equal(tick.schedule, 'nightly');
    assert.equal(tick.scheduledFor, made.anchor + PERIOD);
    assert.equal(tick.verdict, 'ran');
    assert.ok((tick.latenessMs ?? 0) >= 3_000 && (tick.latenessMs ?? 0) < 60_000);
    const job = await readOne(store, tick.jobId ?? 0);
    assert.equal(job.queue, 'reports');
    assert.equal(job.status, 'pending');
    assert.equal(job.name, 'nightly', 'a job without a name gets the name of its schedule');
    assert.deepEqual(await tickAll(store), [], 'a tick never runs twice');
    const after = (await store.schedule('nightly', forever)) as Schedule;
    assert.equal(after.nextRun, made.anchor + 2 * PERIOD, 'the next tick counts from the last one, not from now');
    assert.equal(after.lastRun, tick.scheduledFor);
    assert.equal(after.lastVerdict, 'ran');
    assert.equal(after.lastJobId, tick.jobId);
    const { schedule: _, ...row } = tick;
    assert.deepEqual(await ledger(store, 'nightly'), [row]);
  });

  test('ticks: the reply tells when the next tick is due, and whether more ticks are due now', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { overlap: 'allow', catchup: { policy: 'all', windowMs: HOUR, max: 10 } });
    await makeSchedule(store, { name: 'other', anchor: made.anchor, everyMs: HOUR });
    const idle = await store.tick({ limit: 1_000 }, forever);
    assert.equal(idle.nextDueAt, made.anchor + PERIOD);
    assert.equal(idle.more, false);
    await advance(HOUR + 1_000);
    const first = await store.tick({ limit: 6 }, forever);
    assert.equal(first.ticks.length, 6, 'at least one line, and no more rows than the limit');
    assert.equal(first.more, true);
    const second = await store.tick({ limit: 6 }, forever);
    assert.deepEqual(
      second.ticks.map(({ schedule }) => schedule),
      ['other'],
    );
    assert.equal(second.more, false);
    assert.equal(second.nextDueAt, made.anchor + HOUR + PERIOD);
  });

  test('ticks: a job gets its tick, the interval since the tick before, and whether it is a catch-up', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { overlap: 'allow', forEach: ['tenant-a'] });
    await advance(PERIOD + 1_000);
    await tickAll(store);
    await advance(PERIOD + MINUTE);
    await tickAll(store);
    const [first, second] = [await claimOne(store), await claimOne(store)];
    const { line, ...tick } = first.job.tick ?? { line: 0 };
    assert.ok(line > 0);
    const { anchor } = made;
    assert.deepEqual(tick, {
      schedule: 'nightly',
      key: 'tenant-a',
      kind: 'tick',
      scheduledFor: anchor + PERIOD,
      intervalStart: anchor,
      intervalEnd: anchor + PERIOD,
      catchup: false,
    });
    assert.equal(second.job.tick?.catchup, true);
    assert.equal(first.job.fairKey, 'tenant-a', 'keys take turns');
  });

  test('ticks: start_at is included, end_at is excluded, and no tick follows', async ({ store, advance }) => {
    const anchor = await store.now(forever);
    const bounds = { startAt: anchor + 2 * PERIOD, endAt: anchor + 4 * PERIOD };
    const made = await makeSchedule(store, { anchor, overlap: 'allow', ...bounds });
    for (let step = 0; step < 6; step += 1) {
      await advance(PERIOD + 10);
      await tickAll(store);
    }
    assert.deepEqual(await story(store, made), ['ran 2', 'ran 3']);
    assert.equal((await store.schedule('nightly', forever))?.nextRun, null);
    assert.equal((await store.tick({ limit: 10 }, forever)).nextDueAt, null);
  });

  test('ticks: jitter delays a run by a fixed time and does not move its tick', async ({ store, advance }) => {
    const made = await makeSchedule(store, { forEach: ['a', 'b', 'c'], jitterMs: PERIOD, overlap: 'allow' });
    await advance(PERIOD + 100);
    const ticks = await tickAll(store);
    const now = await store.now(forever);
    for (const { key, scheduledFor, jobId } of ticks) {
      assert.equal(scheduledFor, made.anchor + PERIOD);
      const due = scheduledFor + jitterMs('nightly', key, PERIOD);
      const job = await readOne(store, jobId ?? 0);
      if (due > now) assert.deepEqual([job.status, job.dueAt], ['scheduled', due]);
    }
    assert.equal(ticks.length, 3);
  });

  test('ticks: each key has its own rows, overlap and verdicts', async ({ store, advance }) => {
    const made = await makeSchedule(store, { forEach: ['a', 'b'] });
    await advance(PERIOD + 1_000);
    const first = await tickAll(store);
    assert.deepEqual(
      first.map(({ key, verdict }) => [key, verdict]),
      [
        ['a', 'ran'],
        ['b', 'ran'],
      ],
    );
    const lease = await claimOne(store);
    assert.equal(lease.job.tick?.key, 'a');
    await succeed(store, lease);
    await advance(PERIOD);
    const second = await tickAll(store);
    assert.deepEqual(
      second.map(({ key, verdict }) => [key, verdict]),
      [
        ['a', 'ran'],
        ['b', 'skipped_overlap'],
      ],
    );
    const rows = await store.ticks('nightly', { key: 'b' }, { before: null, limit: 10 }, forever);
    assert.deepEqual(
      rows?.map(({ verdict }) => verdict),
      ['skipped_overlap', 'ran'],
    );
    const [none, ran] = await Promise.all([
      store.ticks('nightly', { verdict: 'missed' }, { before: null, limit: 10 }, forever),
      store.ticks('nightly', { verdict: 'ran', kind: 'tick' }, { before: null, limit: 2 }, forever),
    ]);
    assert.deepEqual([none?.length, ran?.length], [0, 2]);
    assert.equal(made.forEach?.length, 2);
  });

  test('ticks: an added key starts from now, a removed key has no more ticks', async ({ store, advance }) => {
    await makeSchedule(store, { forEach: ['a', 'b'], overlap: 'allow' });
    await advance(PERIOD + MINUTE);
    await changeSchedule(store, 'nightly', { type: 'edit', edit: { forEach: ['b', 'c'] } });
    const keys = async () => (await tickAll(store)).map(({ key }) => key).sort();
    assert.deepEqual(await keys(), [], 'the edit has given due ticks their verdicts');
    assert.deepEqual(
      (await ledger(store, 'nightly')).map(({ key }) => key),
      ['a', 'b'],
    );
    await advance(PERIOD);
    assert.deepEqual(await keys(), ['b', 'c']);
  });

  test('ticks: pruning deletes old rows of the ledger, and ticks go on', async ({ store, advance }) => {
    await makeSchedule(store, { everyMs: 24 * HOUR, overlap: 'skip' });
    for (let day = 1; day <= 4; day += 1) {
      await advance(24 * HOUR + 10);
      await tickAll(store);
    }
    assert.deepEqual(
      (await ledger(store, 'nightly')).map(({ verdict, count }) => [verdict, count]),
      [
        ['ran', 1],
        ['skipped_overlap', 3],
      ],
    );
    assert.equal(await store.pruneTicks(48 * HOUR, 10, forever), 1, 'a row is as old as its last tick');
    await advance(72 * HOUR);
    assert.equal(await store.pruneTicks(48 * HOUR, 10, forever), 1);
    assert.deepEqual(await ledger(store, 'nightly'), []);
    await tickAll(store);
    assert.deepEqual(
      (await ledger(store, 'nightly')).map(({ verdict }) => verdict),
      ['missed', 'skipped_overlap'],
    );
  });
}
