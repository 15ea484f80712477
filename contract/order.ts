import assert from 'node:assert/strict';
import { aJob, anOffer } from './kit/builders.ts';
import { claim, claimOne, decide, forever, ids, register, report, submit } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

export function exerciseOrder(open: OpenStore): void {
  const test = withStore(open);

  test('order: higher priorities are claimed first, then the order of submission counts', async ({ store }) => {
    const [a, b, c, d, e] = ids(
      await submit(
        store,
        [0, 5, -5, 5, 32_767].map((priority) => aJob({ priority })),
      ),
    );
    const { id } = await register(store);
    assert.deepEqual(ids(await claim(store, id)), [e, b, d, a, c]);
  });

  test('order: single claims return the same order as one large claim', async ({ store }) => {
    const [a, b, c, d] = ids(
      await submit(
        store,
        [1, 0, 1, -1].map((priority) => aJob({ priority })),
      ),
    );
    const { id } = await register(store);
    const order: number[] = [];
    for (let i = 0; i < 4; i += 1) order.push(...ids(await claim(store, id, { limit: 1 })));
    assert.deepEqual(order, [a, c, b, d]);
  });

  test('order: a job that was due earlier is claimed first, whatever its id', async ({ store, advance }) => {
    const [late, early] = ids(await submit(store, [aJob({ delayMs: 2_000 }), aJob({ delayMs: 1_000 })]));
    await advance(5_000);
    const [now] = ids(await submit(store, [aJob()]));
    await store.promote(10, forever);
    const { id } = await register(store);
    assert.deepEqual(ids(await claim(store, id)), [early, late, now]);
  });

  test('order: priority counts across lanes and queues, and a claim returns its jobs in order', async ({ store }) => {
    const wanted = [
      aJob({ priority: 1, queue: 'a' }),
      aJob({ priority: 4, handler: 'h' }),
      aJob({ priority: 2, requires: ['gpu'] }),
      aJob({ priority: 3, queue: 'b', resources: { memory_mb: 1 } }),
      aJob({ priority: 4, queue: 'a' }),
      aJob({ priority: 1 }),
    ];
    const [p1, p4, p2, p3, p4too, p1too] = ids(await submit(store, wanted));
    const { id } = await register(store);
    const offer = { queues: null, commands: true, handlers: ['h'], tags: ['gpu'], free: { memory_mb: 8 } };
    assert.deepEqual(ids(await claim(store, id, { offer, limit: 4 })), [p4, p4too, p3, p2]);
    assert.deepEqual(ids(await claim(store, id, { offer, limit: 4 })), [p1, p1too]);
  });

  test('order: is kept across more queues than the limit of the claim, with few and with many jobs waiting in one', async ({
    store,
  }) => {
    const { id } = await register(store);
    const offer = anOffer({ handlers: ['h'] });
    for (const limit of [1, 5, 13]) {
      const made = await submit(
        store,
        Array.from({ length: 60 }, (_, place) => {
          const queue = `q${place < 24 ? place % 12 : place % 5 < 3 ? 12 : place % 12}`;
          return aJob({ command: null, handler: 'h', queue, priority: (place * 7) % 4 });
        }),
      );
      const wanted = ids(made.sort((a, b) => b.priority - a.priority || a.id - b.id));
      const claimed: number[] = [];
      for (let round = 0; claimed.length < wanted.length; round += 1) {
        const some = ids(await claim(store, id, { limit, offer, prefetch: round % 2 === 0 }));
        assert.equal(some.length, Math.min(limit, wanted.length - claimed.length));
        claimed.push(...some);
      }
      assert.deepEqual(claimed, wanted);
    }
  });

  test('order: an interrupted job keeps its place', async ({ store, advance }) => {
    const lease = await claimOne(store, aJob());
    await advance(1_000);
    const [other] = await submit(store, [aJob()]);
    await report(store, lease, { type: 'interrupted', error: 'drained' });
    assert.deepEqual(ids(await claim(store, lease.workerId)), [lease.job.id, other?.id]);
  });

  test('order: countAhead counts the claimable jobs of the queue that come before', async ({ store }) => {
    const wanted = [aJob({ priority: 9 }), aJob(), aJob({ handler: 'h' }), aJob(), aJob({ priority: -1 })];
    const [, , , fourth, last] = await submit(store, wanted);
    const gang = { id: 'g', rank: 0, size: 2, min: 2, spread: 'pack', onMemberFailure: 'fail', timeoutMs: 1 } as const;
    await submit(store, [
      aJob({ queue: 'other', priority: 99 }),
      aJob({ delayMs: 60_000, priority: 99 }),
      aJob({ priority: 99, gang }),
    ]);

    assert.equal(await store.countAhead(fourth?.id ?? 0, 100, forever), 3);
    assert.equal(await store.countAhead(last?.id ?? 0, 100, forever), 4);
    assert.equal(await store.countAhead(last?.id ?? 0, 2, forever), 2);
    assert.equal(await store.countAhead(9_999, 100, forever), 0);
    await decide(store, fourth?.id ?? 0, { type: 'cancel' });
    assert.equal(await store.countAhead(fourth?.id ?? 0, 100, forever), 0);
    assert.equal(await store.countAhead(last?.id ?? 0, 100, forever), 3);
  });
}
