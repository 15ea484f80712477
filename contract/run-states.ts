import assert from 'node:assert/strict';
import { aStep } from './kit/builders.ts';
import { aTarget, makeSchedule, PERIOD, tickAll } from './kit/schedules.ts';
import { claimOne, fail, forever, retry, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;
const RETENTION = { doneMs: 7 * DAY_MS, otherMs: 30 * DAY_MS, statsMs: 90 * DAY_MS };

export function exerciseRunStates(open: OpenStore): void {
  const test = withStore(open);

  test('ticks: the state of a run follows its job, through a failure and a retry', async ({ store, advance }) => {
    await makeSchedule(store, { target: aTarget({ maxAttempts: 1 }) });
    await advance(PERIOD + 1_000);
    const [tick] = await tickAll(store);
    const state = async () => (await store.runStates([tick?.id ?? 0], forever))[0];
    assert.deepEqual(await state(), { tickId: tick?.id, status: 'pending', startedAt: null, endedAt: null });
    const lease = await claimOne(store);
    const running = await state();
    assert.deepEqual([running?.status, running?.endedAt], ['running', null]);
    const failed = await fail(store, lease);
    assert.deepEqual(await state(), {
      tickId: tick?.id,
      status: 'failed',
      startedAt: failed?.startedAt,
      endedAt: failed?.doneAt,
    });
    await retry(store, lease.job.id);
    assert.equal((await state())?.status, 'pending', 'a retried run has not ended');
    await succeed(store, await claimOne(store));
    assert.equal((await state())?.status, 'done');
  });

  test('ticks: the state of a run follows its workflow; a tick without a run has none', async ({ store, advance }) => {
    const target = { workflow: { name: 'etl', params: {}, steps: [aStep('load', { job: { maxAttempts: 1 } })] } };
    await makeSchedule(store, { target, catchup: { policy: 'none', windowMs: 10_000, max: 1 } });
    await advance(PERIOD + 1_000);
    const [tick] = await tickAll(store);
    await fail(store, await claimOne(store));
    await advance(2 * PERIOD);
    const [missed] = await tickAll(store);
    assert.equal(missed?.verdict, 'missed');
    const states = await store.runStates([tick?.id ?? 0, missed?.id ?? 0, 999_999], forever);
    assert.deepEqual(
      states.map(({ tickId, status }) => [tickId, status]),
      [[tick?.id, 'failed']],
    );
    assert.ok((states[0]?.endedAt ?? 0) >= (states[0]?.startedAt ?? Infinity));
  });

  test('ticks: the ledger keeps how a run ended after the run is pruned', async ({ store, advance }) => {
    await makeSchedule(store, { name: 'good' });
    await makeSchedule(store, {
      name: 'bad',
      target: { workflow: { name: 'etl', params: {}, steps: [aStep('load', { job: { maxAttempts: 1 } })] } },
    });
    await advance(PERIOD + 1_000);
    const ticks = await tickAll(store);
    const good = ticks.find(({ jobId }) => jobId !== null)?.jobId ?? 0;
    for (let i = 0; i < 2; i += 1) {
      const lease = await claimOne(store);
      await (lease.job.id === good ? succeed(store, lease) : fail(store, lease));
    }
    await advance(40 * DAY_MS);
    assert.equal(await store.prune(RETENTION, 100, forever), 2);
    assert.deepEqual(await store.read([good], forever), []);
    const ids = ticks.toSorted((a, b) => (a.schedule < b.schedule ? -1 : 1)).map(({ id }) => id);
    const states = new Map((await store.runStates(ids, forever)).map((state) => [state.tickId, state]));
    assert.deepEqual(
      ids.map((id) => states.get(id)),
      [
        { tickId: ids[0], status: 'failed', startedAt: null, endedAt: null },
        { tickId: ids[1], status: 'done', startedAt: null, endedAt: null },
      ],
    );
  });

  test('ticks: the newest rows of several schedules are read at once', async ({ store, advance }) => {
    await makeSchedule(store, { name: 'a', overlap: 'allow' });
    await makeSchedule(store, { name: 'b', overlap: 'allow' });
    await makeSchedule(store, { name: 'c' });
    const rounds: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await advance(PERIOD);
      rounds.push(await store.now(forever));
      await tickAll(store);
    }
    const read = async (from: number, each: number, schedules = ['a', 'b', 'nobody']) =>
      await store.recentTicks({ schedules, from, each }, forever);
    const two = await read(0, 2);
    assert.deepEqual(two.map(({ schedule }) => schedule).sort(), ['a', 'a', 'b', 'b']);
    assert.deepEqual(
      two.map(({ id }) => id),
      two.map(({ id }) => id).sort((a, b) => b - a),
      'newest first',
    );
    const { schedule: _, ...newest } = two.find(({ schedule }) => schedule === 'a') ?? {};
    assert.deepEqual((await store.ticks('a', {}, { before: null, limit: 1 }, forever))?.[0], newest);
    assert.equal((await read(rounds[2] ?? 0, 10)).length, 2, 'older rows are left out');
    assert.equal((await read(0, 10)).length, 6);
    assert.deepEqual(await read(0, 10, []), []);
  });
}
