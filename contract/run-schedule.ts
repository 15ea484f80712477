import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import type { OverlapPolicy } from '../src/core/schedule/schedule.ts';
import type { Store } from '../src/store/store.ts';
import { changeSchedule, ledger, MINUTE, makeSchedule, PERIOD, tickAll } from './kit/schedules.ts';
import { claimOne, forever, readOne, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseRunSchedule(open: OpenStore): void {
  const test = withStore(open);

  test('run: a manual run works while paused, has its own kind of row and does not move the next tick', async ({
    store,
  }) => {
    const made = await makeSchedule(store);
    await changeSchedule(store, 'nightly', { type: 'pause', note: null });
    const [tick] = await run(store);
    assert.equal(tick?.kind, 'manual');
    assert.equal(tick?.verdict, 'ran');
    const job = await readOne(store, tick?.jobId ?? 0);
    assert.equal(job.status, 'pending');
    assert.deepEqual([job.tick?.kind, job.tick?.catchup], ['manual', false]);
    assert.ok((job.tick?.intervalStart ?? 0) <= (tick?.scheduledFor ?? 0));
    await changeSchedule(store, 'nightly', { type: 'resume' });
    const after = await store.schedule('nightly', forever);
    assert.equal(after?.nextRun, made.nextRun);
    assert.equal(after?.lastJobId, job.id);
    assert.deepEqual(await ledger(store, 'nightly'), [tick]);
  });

  test('run: a manual run follows the overlap policy', async ({ store }) => {
    const verdicts: Record<OverlapPolicy, string[]> = {
      skip: ['ran', 'skipped_overlap', 'skipped_overlap'],
      buffer_one: ['ran', 'ran', 'skipped_overlap'],
      allow: ['ran', 'ran', 'ran'],
      cancel_other: ['ran', 'ran', 'ran'],
    };
    for (const overlap of ['skip', 'buffer_one', 'allow', 'cancel_other'] as const) {
      await makeSchedule(store, { name: overlap, overlap });
      const ticks = [await run(store, overlap), await run(store, overlap), await run(store, overlap)].flat();
      assert.deepEqual(
        ticks.map(({ verdict }) => verdict),
        verdicts[overlap],
        overlap,
      );
    }
  });

  test('run: only the given keys run, and unknown keys are refused', async ({ store }) => {
    await makeSchedule(store, { forEach: ['a', 'b', 'c'] });
    assert.deepEqual(
      (await run(store, 'nightly', ['b'])).map(({ key }) => key),
      ['b'],
    );
    assert.deepEqual(
      (await run(store)).map(({ key, verdict }) => [key, verdict]),
      [
        ['a', 'ran'],
        ['b', 'skipped_overlap'],
        ['c', 'ran'],
      ],
    );
    await assert.rejects(run(store, 'nightly', ['d']), (error) => isWorkronError(error, 'bad_request'));
    assert.equal((await ledger(store, 'nightly')).length, 4, 'nothing is stored');
  });

  test('run: repeating an idempotency key returns the same rows, and a different request with it is refused', async ({
    store,
  }) => {
    await makeSchedule(store, { overlap: 'allow' });
    const request = { kind: 'manual', keys: null, instants: [] } as const;
    const call = (fingerprint: string) =>
      store.runSchedule('nightly', request, { idempotency: { key: 'k', fingerprint } }, forever);
    const [first, twin] = await Promise.all([call('f'), call('f')]);
    assert.notEqual(first?.replayed, twin?.replayed);
    assert.deepEqual(first?.ticks, twin?.ticks);
    assert.equal((await ledger(store, 'nightly')).length, 1);
    await assert.rejects(call('g'), (error) => isWorkronError(error, 'idempotency_mismatch'));
  });

  test('backfill: older ticks leave the last run alone, which is one run with its own job', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { overlap: 'allow' });
    const last = async () => {
      const schedule = await store.schedule('nightly', forever);
      return [schedule?.lastRun, schedule?.lastVerdict, schedule?.lastJobId];
    };
    await advance(3 * PERIOD + 1_000);
    const [manual] = await run(store);
    const shown = [manual?.scheduledFor, 'ran', manual?.jobId];
    assert.deepEqual(await last(), shown);
    const filled = await backfill(
      store,
      [1, 2].map((number) => made.anchor + number * PERIOD),
    );
    assert.equal(filled.length, 2);
    assert.deepEqual(await last(), shown, 'a backfill of older ticks');
    await tickAll(store);
    assert.deepEqual(await last(), shown, 'a tick from before the manual run');
    await advance(PERIOD);
    const [tick] = await tickAll(store);
    assert.deepEqual(await last(), [tick?.scheduledFor, 'ran', tick?.jobId]);
  });

  test('backfill: runs every tick without a run, whatever its verdict, and never one twice', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store);
    const at = (number: number) => made.anchor + number * PERIOD;
    await advance(PERIOD + 1_000);
    await tickAll(store);
    await succeed(store, await claimOne(store));
    await changeSchedule(store, 'nightly', { type: 'pause', note: null });
    await advance(3 * PERIOD);
    await tickAll(store);
    const instants = [-1, 0, 1, 2, 3].map(at);
    const missing = await store.ticksWithoutRun('nightly', { key: '', instants }, forever);
    assert.deepEqual(missing, [-1, 0, 2, 3].map(at));
    const filled = await backfill(store, instants);
    assert.deepEqual(
      filled.map(({ kind, verdict, scheduledFor }) => [kind, verdict, scheduledFor]),
      [-1, 0, 2, 3].map((number) => ['backfill', 'ran', at(number)]),
    );
    assert.deepEqual(await backfill(store, instants), [], 'every tick has a run now');
    const jobs = await Promise.all(filled.map(({ jobId }) => readOne(store, jobId ?? 0)));
    assert.deepEqual(
      jobs.map(({ status }) => status),
      ['pending', 'blocked', 'blocked', 'blocked'],
      'one run per tick',
    );
    assert.equal(jobs[0]?.tick?.scheduledFor, at(-1));
    assert.equal(jobs[0]?.tick?.catchup, true);
    assert.equal((await store.schedule('nightly', forever))?.lastRun, at(3));
  });

  test('backfill: waits for unfinished runs unless overlap is allowed', async ({ store, advance }) => {
    for (const overlap of ['skip', 'allow'] as const) {
      const made = await makeSchedule(store, { name: overlap, overlap });
      await advance(PERIOD + MINUTE);
      await tickAll(store);
      const [filled] = await backfill(store, [made.anchor - PERIOD], overlap);
      const { status } = await readOne(store, filled?.jobId ?? 0);
      assert.equal(status, overlap === 'allow' ? 'pending' : 'blocked');
    }
  });
}

async function run(store: Store, name = 'nightly', keys: readonly string[] | null = null) {
  const answer = await store.runSchedule(name, { kind: 'manual', keys, instants: [] }, {}, forever);
  assert.ok(answer);
  return answer.ticks;
}

async function backfill(store: Store, instants: readonly number[], name = 'nightly') {
  const answer = await store.runSchedule(name, { kind: 'backfill', keys: null, instants }, {}, forever);
  assert.ok(answer);
  return answer.ticks;
}
