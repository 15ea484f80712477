import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import type { ScheduleChange } from '../src/core/schedule/schedule.ts';
import {
  aSchedule,
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
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseSchedules(open: OpenStore): void {
  const test = withStore(open);

  test('schedules: a new schedule is read back with every field', async ({ store }) => {
    const now = await store.now(forever);
    const wanted = aSchedule({
      name: 'report.daily_1-x',
      owner: 'ops',
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      overlap: 'buffer_one',
      catchup: { policy: 'all', windowMs: 7_200_000, max: 3 },
      jitterMs: 1_000,
      startAt: now + HOUR,
      endAt: now + 3_000 * HOUR,
      forEach: ['b', 'a', 'ß/"'],
      notify: [{ on: ['failed', 'missed'], target: { type: 'command', command: 'page me' }, lateAfterMs: 60_000 }],
      target: aTarget({ env: { A: '1' }, tags: ['x'], backoff: { ...aJobBackoff(), baseMs: 1 } }),
    });
    const made = await store.createSchedule(wanted, forever);
    assert.deepEqual(made, await store.schedule(wanted.name, forever));
    const { id, createdAt, updatedAt, nextRun, ...rest } = made;
    const state = { pausedAt: null, pausedNote: null, lastRun: null, lastVerdict: null };
    assert.deepEqual(rest, { ...wanted, ...state, lastJobId: null, lastWorkflowId: null });
    assert.ok(id > 0 && createdAt >= now && updatedAt === createdAt);
    assert.ok(nextRun !== null && nextRun >= now + HOUR, 'the first tick is at or after start_at');
  });

  test('schedules: a name is unique', async ({ store }) => {
    await makeSchedule(store);
    await assert.rejects(makeSchedule(store), (error) => isWorkronError(error, 'schedule_exists'));
  });

  test('schedules: an invalid timing or one without ticks is refused, and nothing is stored', async ({ store }) => {
    const now = await store.now(forever);
    for (const wrong of [
      { cron: '0 0 31 2 *' },
      { cron: '61 * * * *' },
      { cron: '0 0 * * *', timezone: 'Mars/Olympus' },
      { everyMs: 999 },
      { cron: null, everyMs: null },
      { cron: '0 0 * * *', everyMs: HOUR },
      { endAt: now - HOUR },
      { startAt: now + HOUR, endAt: now + HOUR },
      { forEach: [] },
      { forEach: ['a', 'a'] },
      { catchup: { ...ALL, max: 1_001 } },
      { catchup: { ...ALL, windowMs: -1 } },
      { jitterMs: -1 },
    ]) {
      const wanted = { ...aSchedule(wrong), ...wrong };
      await assert.rejects(store.createSchedule(wanted, forever), (error) => isWorkronError(error, 'schedule_invalid'));
    }
    assert.deepEqual(await store.schedules({}, { after: null, limit: 10 }, forever), []);
  });

  test('schedules: a list is sorted by name, paged, and filtered by owner and part of the name', async ({ store }) => {
    for (const [name, owner] of [
      ['b', 'x'],
      ['a-1', null],
      ['c', 'x'],
      ['a.2', 'y'],
    ] as const) {
      await makeSchedule(store, { name, owner });
    }
    const names = async (filter: object, after: string | null = null, limit = 10) =>
      (await store.schedules(filter, { after, limit }, forever)).map(({ name }) => name);
    assert.deepEqual(await names({}), ['a-1', 'a.2', 'b', 'c']);
    assert.deepEqual(await names({}, 'a-1', 2), ['a.2', 'b']);
    assert.deepEqual(await names({ owner: 'x' }), ['b', 'c']);
    assert.deepEqual(await names({ text: 'a' }), ['a-1', 'a.2']);
  });

  test('schedules: changing, deleting or running an unknown schedule returns nothing', async ({ store }) => {
    assert.equal(await changeSchedule(store, 'none', { type: 'resume' }), undefined);
    assert.equal(await store.deleteSchedule('none', forever), false);
    assert.equal(await store.schedule('none', forever), undefined);
    assert.equal(await store.ticks('none', {}, { before: null, limit: 1 }, forever), undefined);
    assert.equal(await store.ticksWithoutRun('none', { key: '', instants: [] }, forever), undefined);
    const request = { kind: 'manual', keys: null, instants: [] } as const;
    const idempotency = { key: 'k', fingerprint: 'f' };
    assert.equal(await store.runSchedule('none', request, { idempotency }, forever), undefined);
    await makeSchedule(store, { name: 'none' });
    const ran = await store.runSchedule('none', request, { idempotency }, forever);
    assert.equal(ran?.replayed, false, 'the idempotency key of such a call is not stored');
  });

  test('schedules: a schedule that is deleted and created again has an empty ledger and none of the old runs', async ({
    store,
    advance,
  }) => {
    await makeSchedule(store);
    await advance(PERIOD + MINUTE);
    await tickAll(store);
    assert.equal((await ledger(store, 'nightly')).length, 1);
    assert.equal(await store.deleteSchedule('nightly', forever), true);
    await advance(PERIOD);
    assert.deepEqual(await tickAll(store), [], 'nothing is due after the deletion');
    const again = await makeSchedule(store);
    assert.deepEqual(await ledger(store, 'nightly'), []);
    assert.equal(again.lastRun, null);
    await advance(PERIOD + 1_000);
    await tickAll(store);
    assert.deepEqual(
      await story(store, again),
      ['ran 1'],
      'the unfinished run of the deleted schedule does not overlap',
    );
  });

  test('schedules: a new schedule does not catch up on the past', async ({ store, advance }) => {
    const now = await store.now(forever);
    const made = await makeSchedule(store, { anchor: now - 100 * HOUR, catchup: ALL });
    assert.deepEqual(await tickAll(store), []);
    await advance(PERIOD + 1_000);
    assert.equal((await tickAll(store)).length, 1);
    assert.ok((made.nextRun ?? 0) > now);
  });

  test('schedules: a new timing starts from now, and ticks that were due before follow the old one', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { overlap: 'allow' });
    await advance(2 * PERIOD + MINUTE);
    const now = await store.now(forever);
    const edited = await changeSchedule(store, 'nightly', edit({ everyMs: HOUR, anchor: now }));
    assert.equal(edited?.nextRun, now + HOUR);
    assert.deepEqual(await story(store, made), ['dropped 1', 'ran 2']);
    await advance(30 * MINUTE);
    assert.deepEqual(await tickAll(store), [], 'the old period no longer counts');
    await advance(30 * MINUTE + 1_000);
    assert.deepEqual(
      (await tickAll(store)).map(({ scheduledFor }) => scheduledFor),
      [now + HOUR],
    );
  });

  test('schedules: an edit that leaves the timing alone does not move the next tick', async ({ store, advance }) => {
    const made = await makeSchedule(store);
    await advance(MINUTE);
    const edited = await changeSchedule(store, 'nightly', edit({ overlap: 'allow', owner: 'me' }));
    assert.equal(edited?.nextRun, made.nextRun);
    assert.equal(edited?.overlap, 'allow');
    assert.equal(edited?.owner, 'me');
    assert.ok((edited?.updatedAt ?? 0) > made.updatedAt);
  });

  test('schedules: an edit to a timing without ticks is refused and changes nothing', async ({ store, advance }) => {
    const made = await makeSchedule(store);
    await advance(MINUTE);
    const refused = changeSchedule(store, 'nightly', edit({ cron: '0 0 30 2 *', everyMs: null }));
    await assert.rejects(refused, (error) => isWorkronError(error, 'schedule_invalid'));
    const wide = changeSchedule(store, 'nightly', edit({ catchup: { ...ALL, max: 0 } }));
    await assert.rejects(wide, (error) => isWorkronError(error, 'schedule_invalid'));
    assert.deepEqual(await store.schedule('nightly', forever), made);
  });

  test('schedules: ticks during a pause get the verdict paused for good, ticks before it are judged as usual', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { overlap: 'allow', catchup: ALL });
    await advance(PERIOD + MINUTE);
    const paused = await changeSchedule(store, 'nightly', { type: 'pause', note: 'moving house' });
    assert.equal(paused?.pausedNote, 'moving house');
    assert.equal(paused?.nextRun, null);
    assert.deepEqual(await story(store, made), ['ran 1']);
    await advance(PERIOD);
    await tickAll(store);
    assert.deepEqual(await story(store, made), ['ran 1', 'paused 2']);
    const again = await changeSchedule(store, 'nightly', { type: 'pause', note: null });
    assert.equal(again?.pausedAt, paused?.pausedAt, 'a second pause changes nothing');
    await advance(2 * PERIOD);
    const resumed = await changeSchedule(store, 'nightly', { type: 'resume' });
    assert.equal(resumed?.pausedAt, null);
    assert.equal(resumed?.nextRun, made.anchor + 5 * PERIOD);
    await tickAll(store);
    assert.deepEqual(await story(store, made), ['ran 1', 'paused 2-4'], 'one row that grows');
    await advance(PERIOD);
    await tickAll(store);
    assert.deepEqual(await story(store, made), ['ran 1', 'paused 2-4', 'ran 5']);
  });

  test('schedules: creating or changing a schedule sends a hint', async ({ store }) => {
    let hinted = Promise.withResolvers<void>();
    const unsubscribe = store.subscribe((hint) => {
      if (hint.topic === 'schedules') hinted.resolve();
    });
    await makeSchedule(store);
    await hinted.promise;
    hinted = Promise.withResolvers<void>();
    await changeSchedule(store, 'nightly', { type: 'pause', note: null });
    await hinted.promise;
    unsubscribe();
  });
}

const ALL = { policy: 'all', windowMs: HOUR, max: 10 } as const;

function edit(wanted: Extract<ScheduleChange, { type: 'edit' }>['edit']): ScheduleChange {
  return { type: 'edit', edit: wanted };
}

function aJobBackoff() {
  return { type: 'fixed', factor: 1, capMs: 5, jitter: 0 } as const;
}
