import assert from 'node:assert/strict';
import type { NewInstance } from '../src/core/instance.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const DAY_MS = 86_400_000;
const BEAT_MS = 5_000;

function anInstance(wanted: Partial<NewInstance> = {}): NewInstance {
  return {
    id: 'host-1-abc',
    host: 'höst',
    pid: 4711,
    roles: ['api', 'scheduler'],
    version: '1.2.3',
    url: 'http://127.0.0.1:8080',
    beatMs: BEAT_MS,
    ...wanted,
  };
}

export function exerciseInstances(open: OpenStore): void {
  const test = withStore(open);

  test('instances: an instance is listed with every field that it registered', async ({ store }) => {
    assert.deepEqual(await store.instances(forever), []);
    await store.beatInstance(anInstance(), forever);
    const [instance] = await store.instances(forever);
    assert.ok(instance);
    const { startedAt, seenAt, ...rest } = instance;
    assert.deepEqual(rest, { ...anInstance(), state: 'online' });
    assert.equal(startedAt, seenAt);
  });

  test('instances: heartbeats keep an instance online with its first start time, and a silent one is offline', async ({
    store,
    advance,
  }) => {
    await store.beatInstance(anInstance({ id: 'first' }), forever);
    await advance(1_000);
    await store.beatInstance(anInstance({ id: 'second', url: null, roles: ['worker'] }), forever);
    const [before] = await store.instances(forever);
    await advance(3 * BEAT_MS + 1_000);
    await store.beatInstance(anInstance({ id: 'first', version: '1.2.4' }), forever);
    const now = await store.instances(forever);
    assert.deepEqual(
      now.map(({ id, state, version }) => [id, state, version]),
      [
        ['first', 'online', '1.2.4'],
        ['second', 'offline', '1.2.3'],
      ],
    );
    assert.equal(now[0]?.startedAt, before?.startedAt);
    assert.ok((now[0]?.seenAt ?? 0) > (before?.seenAt ?? 0));
  });

  test('instances: an instance that deregisters is removed at once, a silent one after a day', async ({
    store,
    advance,
  }) => {
    await store.beatInstance(anInstance({ id: 'polite' }), forever);
    await store.beatInstance(anInstance({ id: 'dead' }), forever);
    await store.leaveInstance('polite', forever);
    await store.leaveInstance('unknown', forever);
    const listed = async () => (await store.instances(forever)).map(({ id }) => id);
    assert.deepEqual(await listed(), ['dead']);
    await advance(DAY_MS - 60_000);
    await store.beatInstance(anInstance({ id: 'fresh' }), forever);
    assert.equal(await store.forgetInstances(DAY_MS, forever), 0);
    await advance(120_000);
    assert.equal(await store.forgetInstances(DAY_MS, forever), 1);
    assert.deepEqual(await listed(), ['fresh']);
  });
}
