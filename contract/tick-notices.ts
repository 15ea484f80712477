import assert from 'node:assert/strict';
import type { Notify, NotifyEvent } from '../src/core/notify.ts';
import type { Store } from '../src/store/store.ts';
import { MINUTE, makeSchedule, PERIOD, tickAll } from './kit/schedules.ts';
import { forever, readOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const tells = (...on: NotifyEvent[]): Notify[] => [
  { on, target: { type: 'command', command: 'true' }, lateAfterMs: MINUTE },
];

/** The open notices in short form. */
async function open(store: Store): Promise<string[]> {
  const notices = await store.notices(100, forever);
  return notices.map(({ kind, schedule, detail }) => `${kind} ${schedule} ${JSON.stringify(detail['count'] ?? '')}`);
}

export function exerciseTickNotices(openStore: OpenStore): void {
  const test = withStore(openStore);

  test('tick notices: missed ticks are gathered in one notice per schedule, over all keys and calls', async ({
    store,
    advance,
  }) => {
    const { anchor } = await makeSchedule(store, { notify: tells('missed'), forEach: ['a', 'b'], overlap: 'allow' });
    await advance(PERIOD * 10 + MINUTE);
    await tickAll(store);
    assert.deepEqual(await open(store), [], 'missed ticks are gathered for a moment');
    await advance(PERIOD * 10);
    await tickAll(store);
    const [notice, ...more] = await store.notices(10, forever);
    assert.deepEqual(more, []);
    assert.ok(notice);
    const { scheduled_for, count } = notice.detail as { scheduled_for: string; count: number };
    assert.equal(scheduled_for, new Date(anchor + PERIOD).toISOString());
    assert.ok(count > 4 && count % 2 === 0, `${count} ticks of two keys`);
    await store.deliver(notice.id, { alarm: null, messages: [] }, forever);
    await advance(PERIOD * 20);
    await tickAll(store);
    await advance(5_000);
    assert.equal((await open(store)).length, 1, 'ticks that are missed later write a new notice');
  });

  test('tick notices: ticks that the latest one covers are not missed, those that a limit leaves out are', async ({
    store,
    advance,
  }) => {
    const notify = tells('missed');
    await makeSchedule(store, { name: 'latest', notify });
    await makeSchedule(store, { name: 'all', notify, catchup: { policy: 'all', windowMs: PERIOD * 20, max: 2 } });
    await advance(PERIOD * 4 + MINUTE);
    const verdicts = (await tickAll(store)).map(({ schedule, verdict, count }) => `${schedule} ${verdict} ${count}`);
    assert.deepEqual(verdicts.toSorted(), [
      'all dropped 2',
      'all ran 1',
      'all ran 1',
      'latest dropped 3',
      'latest ran 1',
    ]);
    await advance(5_000);
    assert.deepEqual(await open(store), ['missed all 2']);
  });

  test('tick notices: without a target there is no notice, and the installation may be the target', async ({
    store,
    advance,
  }) => {
    await makeSchedule(store, { name: 'quiet', notify: tells('failed') });
    await advance(PERIOD * 20);
    await tickAll(store);
    await advance(5_000);
    assert.deepEqual(await open(store), []);
    await advance(PERIOD * 20);
    await store.tick({ limit: 1_000, notify: tells('missed') }, forever);
    await advance(5_000);
    assert.match((await open(store)).join(), /^missed quiet \d+$/);
  });

  test('tick notices: a late run is noticed once its deadline has passed', async ({ store, advance }) => {
    await makeSchedule(store, { notify: tells('late', 'missed') });
    await advance(PERIOD);
    const [tick] = await tickAll(store);
    assert.deepEqual(await open(store), []);
    await advance(MINUTE);
    const [notice] = await store.notices(10, forever);
    assert.deepEqual([notice?.kind, notice?.jobId, notice?.schedule], ['late', tick?.jobId, 'nightly']);
    assert.equal(notice?.detail['late_after'], MINUTE);
  });

  test('tick notices: a run notifies the targets of the schedule, its job and the installation', async ({
    store,
    advance,
  }) => {
    await makeSchedule(store, { notify: tells('failed') });
    await advance(PERIOD);
    const { ticks } = await store.tick({ limit: 10, notify: tells('recovered') }, forever);
    const job = await readOne(store, ticks[0]?.jobId as number);
    assert.deepEqual(
      job.notify.map(({ on }) => on),
      [['failed'], ['recovered']],
    );
    const manual = await store.runSchedule('nightly', { kind: 'manual', keys: null, instants: [] }, {}, forever);
    assert.equal(manual?.ticks.length, 1);
    await advance(PERIOD);
    assert.deepEqual(await open(store), [], 'a manual run is never late');
  });
}
