import assert from 'node:assert/strict';
import { type Log, silentLog } from '../src/ops/log.ts';
import { Metrics } from '../src/ops/metrics.ts';
import { Wake } from '../src/ops/wake.ts';
import { createScheduler } from '../src/scheduler/create-scheduler.ts';
import { ticker } from '../src/scheduler/duties/ticker.ts';
import type { Store } from '../src/store/store.ts';
import { aStep } from './kit/builders.ts';
import { VirtualClock } from './kit/clock.ts';
import { changeSchedule, ledger, makeSchedule, PERIOD, story } from './kit/schedules.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** A workflow that every store refuses: a step keeps the result of a job that does not exist. */
const REFUSED = { workflow: { name: 'w', params: {}, steps: [aStep('kept', { keepFrom: 999_999 })] } };

export function exerciseFailingTicks(open: OpenStore): void {
  const test = withStore(open);

  test('ticks: a schedule whose tick cannot be written is postponed alone, with growing delays, and the others go on', async ({
    store,
    advance,
  }) => {
    const anchor = await store.now(forever);
    const names = Array.from({ length: 9 }, (_, index) => `good-${index}`);
    // One of the two is due before all others, one in between.
    await makeSchedule(store, { name: 'bad-1', anchor, target: REFUSED });
    for (const [index, name] of names.entries()) {
      await makeSchedule(store, { name, anchor, overlap: 'allow' });
      if (index === 4) await makeSchedule(store, { name: 'bad-2', anchor, target: REFUSED });
    }
    using duty = watch(store);
    const { rounds, errors } = duty;

    await advance(PERIOD + 10);
    const delays = await failuresIn(rounds, { store, errors });
    for (const name of names) assert.deepEqual(await verdicts(store, name), ['ran']);
    assert.deepEqual([...delays.keys()].sort(), ['bad-1', 'bad-2']);
    for (const name of ['bad-1', 'bad-2']) {
      assert.deepEqual(await ledger(store, name), [], 'nothing is stored in part');
      assert.equal((await store.schedule(name, forever))?.lastVerdict, null);
    }

    // The first delay is the shortest that there is.
    const waits = (delays.get('bad-2') ?? []).slice(1);
    for (let again = 0; again < 3; again += 1) {
      const due = (await store.schedule('bad-2', forever))?.nextRun ?? 0;
      await advance(due - (await store.now(forever)) + 1);
      waits.push(...((await failuresIn(rounds, { store, errors })).get('bad-2') ?? []));
    }
    assert.ok(waits.length >= 3 && (waits[0] ?? 0) >= 5_000, waits.join());
    for (const [index, wait] of waits.slice(1).entries()) {
      assert.ok(wait >= 2 * (waits[index] ?? 0), `each delay is twice as long as the one before: ${waits.join()}`);
    }
  });

  test('ticks: a postponed schedule runs its tick after it has been fixed', async ({ store, advance }) => {
    const made = await makeSchedule(store, { target: REFUSED });
    using duty = watch(store);
    const { rounds } = duty;
    await advance(PERIOD + 10);
    await rounds();
    const { target } = await makeSchedule(store, { name: 'other' });
    await changeSchedule(store, 'nightly', { type: 'edit', edit: { target } });
    await advance(10_000);
    await rounds();
    assert.deepEqual(await story(store, made), ['ran 1']);
  });

  test('ticks: a new timing for a schedule whose tick cannot be written makes the due tick missed', async ({
    store,
    advance,
  }) => {
    using duty = watch(store);
    await makeSchedule(store, { name: 'refused', forEach: ['a', 'b', 'c'], target: REFUSED });
    await advance(PERIOD + 10);
    const edited = await duty.scheduler.editSchedule('refused', { everyMs: 2 * PERIOD }, forever);
    assert.equal(edited.everyMs, 2 * PERIOD);
    assert.deepEqual(await verdicts(store, 'refused'), ['missed', 'missed', 'missed']);
    assert.deepEqual(
      duty.errors.map(({ schedule, retry_in_ms }) => [schedule, retry_in_ms]),
      Array.from({ length: 3 }, () => ['refused', undefined]),
    );
    const metric = (await duty.metrics.ticks.get()).values.find(({ labels }) => labels.verdict === 'missed');
    assert.equal(metric?.value, 3, 'counted as the ticker counts them');
  });
}

async function verdicts(store: Store, name: string): Promise<string[]> {
  return (await ledger(store, name)).map(({ verdict }) => verdict);
}

/**
 * The delays of schedules that fail in these rounds, by schedule. None is tried again before its delay is over: on a slow machine, it may
 * be over within the rounds.
 */
async function failuresIn(
  rounds: () => Promise<void>,
  { store, errors }: Pick<ReturnType<typeof watch>, 'errors'> & { store: Store },
): Promise<Map<string, number[]>> {
  const before = await store.now(forever);
  await rounds();
  const passed = (await store.now(forever)) - before;
  const failures = Map.groupBy(errors.splice(0), ({ schedule }) => schedule);
  const delays = new Map([...failures].map(([name, own]) => [name, own.map(({ retry_in_ms }) => retry_in_ms)]));
  for (const [name, own] of delays) {
    const waited = own.slice(0, -1).reduce((sum, delay) => sum + delay, 0);
    assert.ok(waited <= passed, `${name}: ${own.join()} in ${passed} ms`);
    const next = (await store.schedule(name, forever))?.nextRun ?? 0;
    assert.ok(next >= before + waited + (own.at(-1) ?? 0), `${name} is due again at ${next - before}: ${own.join()}`);
  }
  return delays;
}

/** Runs the ticker on this store and collects the errors that it logs. */
function watch(store: Store) {
  const errors: { schedule: string; retry_in_ms: number }[] = [];
  const log: Log = { ...silentLog, error: (fields) => errors.push(fields as (typeof errors)[number]) };
  const options = { store, clock: new VirtualClock(), random: () => 0.5, log, instanceId: 'me' };
  const metrics = new Metrics('0', 'me');
  const { context, scheduler } = createScheduler({ ...options, metrics, leaseMs: 30_000, heartbeatMs: 5_000 });
  const loop = ticker(context, new Wake());
  const rounds = async (): Promise<void> => {
    while ((await loop.tick(forever)) === 0);
  };
  return { errors, rounds, scheduler, metrics, [Symbol.dispose]: () => loop[Symbol.dispose]() };
}
