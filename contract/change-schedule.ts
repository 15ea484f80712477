import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import type { ScheduleChange, ScheduleEdit } from '../src/core/schedule/schedule.ts';
import type { ScheduleStep } from '../src/store/schedule-store.ts';
import type { Store } from '../src/store/store.ts';
import { aStep } from './kit/builders.ts';
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
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** A workflow that every store refuses: a step keeps the result of a job that does not exist. */
const REFUSED = { workflow: { name: 'w', params: {}, steps: [aStep('kept', { keepFrom: 999_999 })] } };
const ALL = { policy: 'all', windowMs: HOUR, max: 10 } as const;
const KEYS = Array.from({ length: 23 }, (_, index) => `tenant-${index}`);

function edit(wanted: ScheduleEdit): ScheduleChange {
  return { type: 'edit', edit: wanted };
}

/** The steps of a change, each limited to one line. */
async function steps(store: Store, change: ScheduleChange): Promise<ScheduleStep[]> {
  const taken: ScheduleStep[] = [];
  for (let at: number | null = null; taken.at(-1)?.changed !== true; at = taken.at(-1)?.at ?? null) {
    const step = await store.changeSchedule('nightly', { change, at, limit: 1_000, lines: 1 }, forever);
    assert.ok(step);
    taken.push(step);
    assert.ok(taken.length < 100, 'the change ends');
  }
  return taken;
}

async function postpone(store: Store): Promise<void> {
  const { failed } = await store.tick({ limit: 1_000, lines: 1 }, forever);
  assert.equal(failed.length, 1);
}

export function exerciseChangeSchedule(open: OpenStore): void {
  const test = withStore(open);

  test('change: of the job only the given fields change, and variables by name', async ({ store }) => {
    const target = aTarget({ queue: 'reports', priority: 7, timeoutMs: 600_000, env: { A: '1', B: '2' } });
    const { nextRun } = await makeSchedule(store, { target });
    const jobAfter = async (job: NonNullable<ScheduleEdit['job']>) => {
      const schedule = await changeSchedule(store, 'nightly', edit({ job }));
      assert.deepEqual(schedule, await store.schedule('nightly', forever));
      assert.equal(schedule?.nextRun, nextRun, 'no tick moves');
      assert.ok(schedule !== undefined && 'job' in schedule.target);
      return schedule.target.job;
    };
    assert.ok('job' in target);
    const one = { ...target.job, timeoutMs: 1_200_000 };
    assert.deepEqual(await jobAfter({ timeoutMs: 1_200_000 }), one);
    const two = { ...one, command: 'echo two', env: { B: '3', C: '4' } };
    assert.deepEqual(await jobAfter({ command: 'echo two', env: { A: null, B: '3', C: '4' } }), two);
    const three = { ...two, command: null, handler: 'report', input: { day: 1 } };
    assert.deepEqual(await jobAfter({ handler: 'report', input: { day: 1 } }), three);
    assert.deepEqual(await jobAfter({ command: 'true', env: null }), { ...two, command: 'true', env: {} });
  });

  test('change: fields of a job alone cannot replace a workflow', async ({ store }) => {
    const workflow = { name: 'w', params: {}, steps: [aStep('a')] };
    await makeSchedule(store, { target: { workflow } });
    await assert.rejects(changeSchedule(store, 'nightly', edit({ job: { timeoutMs: 1_000 } })), (error) =>
      isWorkronError(error, 'schedule_invalid'),
    );
    const changed = await changeSchedule(store, 'nightly', edit({ job: { command: 'true', timeoutMs: 1_000 } }));
    assert.ok(changed !== undefined && 'job' in changed.target);
    assert.deepEqual([changed.target.job.command, changed.target.job.timeoutMs], ['true', 1_000]);
  });

  test('change: a zone that does not exist is refused for a period, too', async ({ store }) => {
    const isRefused = (error: unknown) => isWorkronError(error, 'schedule_invalid');
    await assert.rejects(makeSchedule(store, { timezone: 'Mars/Phobos' }), isRefused);
    await makeSchedule(store);
    await assert.rejects(changeSchedule(store, 'nightly', edit({ timezone: 'Mars/Phobos' })), isRefused);
    assert.equal((await store.schedule('nightly', forever))?.timezone, 'UTC');
  });

  test('change: due ticks get their verdicts first, in steps of bounded size, and the change is made last', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { forEach: KEYS, overlap: 'allow', catchup: ALL });
    await advance(2 * PERIOD + MINUTE);
    const change = edit({ everyMs: HOUR, anchor: made.anchor });
    let at: number | null = null;
    for (const rows of [10, 10, 10, 10, 6]) {
      const step: ScheduleStep | undefined = await store.changeSchedule('nightly', { change, at, limit: 10 }, forever);
      assert.equal(step?.changed, false);
      assert.equal(step.ticks.length, rows);
      assert.deepEqual([step.counts, step.started], [{ ran: rows }, { default: rows }]);
      assert.equal(step.schedule.everyMs, PERIOD, 'nothing is changed before every due tick has its verdict');
      at = step.at;
      await advance(1_000);
    }
    const last = await store.changeSchedule('nightly', { change, at, limit: 10 }, forever);
    assert.equal(last?.changed, true);
    assert.deepEqual([last.ticks, last.schedule.everyMs], [[], HOUR]);
    for (const key of KEYS) {
      const rows = (await ledger(store, 'nightly')).filter((row) => row.key === key);
      assert.deepEqual(
        rows.map(({ scheduledFor, verdict }) => [scheduledFor, verdict]),
        [
          [made.anchor + PERIOD, 'ran'],
          [made.anchor + 2 * PERIOD, 'ran'],
        ],
      );
    }
  });

  test('change: a change that is abandoned between two steps changes nothing, and no tick is lost or doubled', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { forEach: KEYS, overlap: 'allow', catchup: ALL });
    await advance(PERIOD + MINUTE);
    const change = edit({ everyMs: HOUR });
    await store.changeSchedule('nightly', { change, at: null, limit: 10 }, forever);
    // The change is never completed; the ticker goes on.
    assert.equal((await tickAll(store)).length, KEYS.length - 10);
    const left = await store.schedule('nightly', forever);
    assert.deepEqual([left?.everyMs, left?.nextRun], [PERIOD, made.anchor + 2 * PERIOD]);
    assert.equal((await ledger(store, 'nightly')).length, KEYS.length);
  });

  test('change: a new timing counts from when it was requested, however many steps the change takes', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { everyMs: 1_000, forEach: KEYS, overlap: 'allow', catchup: ALL });
    await advance(1_500);
    const asked = await store.now(forever);
    const change = edit({ everyMs: 3_000, anchor: asked });
    // The clock of a real database goes on between the two.
    let requested: number | null = null;
    let at: number | null = null;
    for (let changed = false; !changed; ) {
      const step: ScheduleStep | undefined = await store.changeSchedule('nightly', { change, at, limit: 7 }, forever);
      assert.ok(step);
      ({ changed, at } = step);
      requested ??= at;
      // More ticks become due than one step judges; the ticker runs at the same time.
      await advance(1_000);
      if (!changed) await store.tick({ limit: 5 }, forever);
    }
    await advance(3_000);
    const now = await store.now(forever);
    await tickAll(store);
    for (const key of KEYS) {
      const rows = (await ledger(store, 'nightly')).filter((row) => row.key === key);
      // On a slow machine more ticks of the old timing are due than the catch-up takes: those it drops are one row.
      const instants = rows.flatMap(({ scheduledFor, through, count }) =>
        Array.from(
          { length: count },
          (_, index) => scheduledFor + (index * (through - scheduledFor)) / (count - 1 || 1),
        ),
      );
      const old = instants.filter((at) => (at - made.anchor) % 1_000 === 0 && (at - asked) % 3_000 !== 0);
      const lastOld = Math.max(...old);
      assert.deepEqual(
        old,
        Array.from({ length: old.length }, (_, index) => made.anchor + (index + 1) * 1_000),
      );
      const fresh = instants.filter((at) => !old.includes(at) && at <= now);
      const wanted: number[] = [];
      for (let tick = asked + 3_000; tick <= now; tick += 3_000)
        if (tick > Math.max(lastOld, requested ?? 0)) wanted.push(tick);
      assert.deepEqual(fresh, wanted);
    }
  });

  test('change: a new timing gives postponed ticks a verdict: a tick that cannot be started is missed', async ({
    store,
    advance,
  }) => {
    const notify = [{ on: ['missed' as const], target: { type: 'command' as const, command: 'x' }, lateAfterMs: 1 }];
    const made = await makeSchedule(store, { target: REFUSED, catchup: ALL, notify });
    await advance(2 * PERIOD + MINUTE);
    await postpone(store);
    const [judged, last] = await steps(store, edit({ everyMs: HOUR, target: aTarget() }));
    assert.equal(judged?.failed[0]?.retryInMs, null, 'it is not retried');
    assert.deepEqual([judged?.counts, last?.changed], [{ missed: 2 }, true]);
    assert.deepEqual(await story(store, made), ['missed 1-2']);
    await advance(2_000);
    const notices = await store.notices(10, forever);
    assert.deepEqual(
      notices.map(({ kind, detail }) => [kind, detail['count']]),
      [['missed', 2]],
    );
  });

  test('change: a new timing runs postponed ticks that can be started by now', async ({ store, advance }) => {
    const made = await makeSchedule(store, { target: REFUSED, catchup: ALL });
    await advance(PERIOD + MINUTE);
    await postpone(store);
    await changeSchedule(store, 'nightly', edit({ target: aTarget() }));
    const [judged] = await steps(store, edit({ everyMs: HOUR }));
    assert.deepEqual(judged?.counts, { ran: 1 });
    assert.deepEqual(await story(store, made), ['ran 1']);
  });

  test('change: removing a key or ending a pause leaves no tick without a verdict', async ({ store, advance }) => {
    const made = await makeSchedule(store, { target: REFUSED, catchup: ALL, forEach: ['a', 'b'] });
    await advance(PERIOD + MINUTE);
    await postpone(store);
    await postpone(store);
    await steps(store, edit({ forEach: ['b'] }));
    const verdicts = async () =>
      (await ledger(store, 'nightly')).map(({ key, verdict, count }) => `${key} ${verdict} ${count}`);
    assert.deepEqual(await verdicts(), ['a missed 1'], 'the tick of the other key has no verdict yet');
    await steps(store, { type: 'pause', note: null });
    await advance(2 * PERIOD);
    const taken = await steps(store, { type: 'resume' });
    assert.deepEqual(taken.at(-1)?.schedule.nextRun, made.anchor + 4 * PERIOD);
    assert.deepEqual(await verdicts(), ['a missed 1', 'b missed 1', 'b paused 2']);
  });

  test('change: a change that keeps the timing does not wait for ticks that cannot be written, and retries them', async ({
    store,
    advance,
  }) => {
    const made = await makeSchedule(store, { target: REFUSED });
    await advance(PERIOD + MINUTE);
    // No tick has failed yet.
    const taken = await steps(store, edit({ target: aTarget() }));
    assert.deepEqual(
      taken.map(({ changed, failed }) => [changed, failed.length]),
      [
        [false, 1],
        [true, 0],
      ],
    );
    assert.equal(taken.at(-1)?.schedule.nextRun, made.anchor + PERIOD, 'after the fix the tick is due at once');
    assert.deepEqual(await story(store, made), []);
    await tickAll(store);
    assert.deepEqual(await story(store, made), ['ran 1']);
  });

  test('change: a refused change gives no verdicts', async ({ store, advance }) => {
    await makeSchedule(store);
    await advance(PERIOD + MINUTE);
    const request = { change: edit({ cron: '0 0 30 2 *', everyMs: null }), at: null, limit: 1_000 };
    await assert.rejects(store.changeSchedule('nightly', request, forever), (error) =>
      isWorkronError(error, 'schedule_invalid'),
    );
    assert.deepEqual(await ledger(store, 'nightly'), []);
  });
}
