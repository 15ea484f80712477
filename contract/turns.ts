import assert from 'node:assert/strict';
import type { NewJob } from '../src/core/job.ts';
import type { Store } from '../src/store/store.ts';
import type { Effort } from './effort.ts';
import { aJob, aStep, aWorkflow } from './kit/builders.ts';
import { beat, cancel, claim, claimOne, forever, loseLeases, register, retry, submit, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** Jobs of one fair key, named after it. */
function jobsOf(fairKey: string | null, count: number, wanted: Partial<NewJob> = {}): NewJob[] {
  return Array.from({ length: count }, () => aJob({ fairKey, name: fairKey ?? '-', ...wanted }));
}

/** The names of the claimed jobs, in order. */
async function taken(store: Store, workerId: number, limit = 100): Promise<string> {
  return (await claim(store, workerId, { limit })).map(({ name }) => name).join('');
}

export function exerciseTurns(open: OpenStore, effort: Effort): void {
  const test = withStore(open);

  test('turns: keys with waiting jobs take turns, one job each, however many jobs a key has', async ({ store }) => {
    await submit(store, [...jobsOf('a', 4), ...jobsOf('b', 2), ...jobsOf('c', 3)]);
    const { id } = await register(store);
    assert.equal(await taken(store, id), 'abcabcaca');
  });

  test('turns: the order continues from claim to claim', async ({ store }) => {
    await submit(store, [...jobsOf('a', 3), ...jobsOf('b', 3)]);
    const { id } = await register(store);
    assert.equal(await taken(store, id, 1), 'a');
    await submit(store, jobsOf('c', 2));
    assert.equal(await taken(store, id, 2), 'bc');
    assert.equal(await taken(store, id, 10), 'abcab');
  });

  test('turns: a key with very many waiting jobs does not delay the one job of another', async ({ store }) => {
    await submit(store, jobsOf('a', effort.fairJobs));
    await submit(store, jobsOf('b', 1));
    const { id } = await register(store);
    assert.equal(await taken(store, id, 3), 'aba');
  });

  test('turns: a new key joins the current round, neither before nor after it', async ({ store, advance }) => {
    await submit(store, [...jobsOf('a', 6), ...jobsOf('b', 6)]);
    const { id } = await register(store);
    assert.equal(await taken(store, id, 5), 'ababa');
    await advance(1_000);
    await submit(store, jobsOf('c', 3));
    assert.equal(await taken(store, id), 'bcabcabcab');
  });

  test('turns: an idle key neither saves turns nor owes any', async ({ store, advance }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 9), ...jobsOf('b', 1)]);
    assert.equal(await taken(store, id, 6), 'abaaaa');
    await advance(1_000);
    await submit(store, jobsOf('b', 2));
    assert.equal(await taken(store, id), 'ababaa');
    await submit(store, [...jobsOf('c', 2), ...jobsOf('a', 2)]);
    assert.equal(await taken(store, id), 'caca');
  });

  test('turns: delayed jobs take no turn before they are due', async ({ store, advance }) => {
    const { id } = await register(store);
    await submit(store, jobsOf('a', 20, { delayMs: 10_000 }));
    await submit(store, [...jobsOf('a', 2), ...jobsOf('b', 2)]);
    assert.equal(await taken(store, id, 3), 'aba');
    await submit(store, jobsOf('a', 1));
    await advance(11_000);
    await store.promote(100, forever);
    await submit(store, jobsOf('b', 2));
    assert.equal(await taken(store, id, 6), 'baabab');
  });

  test('turns: cancelled jobs take no turn', async ({ store }) => {
    const { id } = await register(store);
    const backlog = await submit(store, jobsOf('a', 20));
    await submit(store, jobsOf('b', 3));
    for (const job of backlog) await cancel(store, job.id);
    await submit(store, jobsOf('a', 2));
    assert.equal(await taken(store, id), 'babab');
  });

  test('turns: a blocked job takes its turn when its parents have ended', async ({ store, advance }) => {
    const { id } = await register(store);
    const parent = await claimOne(store, aJob({ name: 'parent' }), id);
    const dependsOn = [{ jobId: parent.job.id, condition: 'success' as const }];
    await submit(store, jobsOf('a', 3, { dependsOn }));
    await submit(store, jobsOf('b', 3));
    await advance(1_000);
    await succeed(store, parent);
    assert.equal(await taken(store, id), 'ababab');
  });

  test('turns: steps and items of workflows take turns', async ({ store }) => {
    const { id } = await register(store);
    const [a] = jobsOf('a', 1) as [NewJob];
    const group = aStep('items', { job: a, forEach: { items: [1, 2, 3], maxParallel: null } });
    await store.insertWorkflow(aWorkflow([group, aStep('one', { job: a })]), {}, forever);
    await submit(store, jobsOf('b', 4));
    await store.expand(10, forever);
    assert.equal(await taken(store, id), 'abbababa');
  });

  test('turns: a job that goes back to its queue waits behind the waiting jobs of its key', async ({
    store,
    advance,
  }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 4), ...jobsOf('b', 2)]);
    assert.equal(await taken(store, id, 3), 'aba');
    await submit(store, jobsOf('c', 1));
    await beat(store, id, [], 1);
    assert.equal(await taken(store, id, 100), 'bcabaaa');
    await loseLeases(store, advance);
    const other = await register(store);
    assert.equal((await taken(store, other.id, 3)).split('').sort().join(''), 'abc');
  });

  test('turns: a manually retried job joins the current round', async ({ store, advance }) => {
    const { id } = await register(store);
    const [first] = await submit(store, jobsOf('a', 1));
    await cancel(store, first?.id ?? 0);
    await submit(store, jobsOf('b', 3));
    await advance(1_000);
    await retry(store, first?.id ?? 0);
    assert.equal(await taken(store, id), 'babb');
  });

  test('turns: from the first job with a key on, all jobs without a key count as one key', async ({
    store,
    advance,
  }) => {
    const { id } = await register(store);
    await submit(store, jobsOf(null, 3));
    await advance(1_000);
    await submit(store, jobsOf('a', 3));
    await submit(store, jobsOf(null, 3));
    assert.equal(await taken(store, id), '---a-a-a-');
  });

  test('turns: priority comes before turns, and each priority has its own turns', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 3), ...jobsOf('b', 1)]);
    await submit(store, [...jobsOf('a', 2, { priority: 5, name: 'A' }), ...jobsOf('b', 2, { priority: 5, name: 'B' })]);
    assert.equal(await taken(store, id, 3), 'ABA');
    assert.equal(await taken(store, id), 'Babaa');
  });

  test('turns: each queue has its own turns, across its lanes', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 2, { queue: 'q' }), ...jobsOf('a', 1, { queue: 'q', requires: ['gpu'] })]);
    await submit(store, [...jobsOf('b', 2, { queue: 'q', requires: ['gpu'] }), ...jobsOf(null, 2)]);
    const offer = { queues: ['q'], commands: true, handlers: [], tags: ['gpu'], free: {} };
    const order = await claim(store, id, { offer });
    assert.equal(order.map(({ name }) => name).join(''), 'ababa');
    assert.equal(await taken(store, id), '--');
  });

  test('turns: a job that is moved takes its turn in its new queue', async ({ store }) => {
    const { id } = await register(store);
    await submit(store, [...jobsOf('a', 3, { queue: 'q' }), ...jobsOf('b', 3, { queue: 'q' })]);
    const [, second] = await submit(store, jobsOf('c', 2, { queue: 'other' }));
    await store.edit(second?.id ?? 0, { queue: 'q' }, forever);
    assert.equal(await taken(store, id, 3), 'abc');
    const [plain] = await submit(store, jobsOf(null, 1, { queue: 'plain' }));
    const moved = await submit(store, jobsOf('a', 2, { queue: 'q' }));
    await store.edit(moved[1]?.id ?? 0, { queue: 'plain', priority: 1 }, forever);
    await store.edit(plain?.id ?? 0, { priority: 1 }, forever);
    const offer = { queues: ['plain'], commands: true, handlers: [], tags: [], free: {} };
    assert.equal((await claim(store, id, { offer })).length, 2);
  });

  test('turns: very many keys take turns as few keys do', async ({ store }) => {
    const keys = Array.from({ length: effort.fairKeys }, (_, index) => `k${index}`);
    await submit(
      store,
      keys.flatMap((key) => jobsOf(key, 2)),
    );
    const { id } = await register(store);
    const first = await claim(store, id, { limit: keys.length });
    assert.equal(new Set(first.map(({ fairKey }) => fairKey)).size, keys.length);
    const second = await claim(store, id, { limit: keys.length });
    assert.equal(new Set(second.map(({ fairKey }) => fairKey)).size, keys.length);
  });

  test('turns: a key makes its queue take turns even if the next job of the same call replaces its job', async ({
    store,
  }) => {
    const unique = { key: 'k', while: 'active', onConflict: 'replace' } as const;
    await submit(store, [aJob({ fairKey: 'a', unique }), aJob({ name: '-', unique })]);
    await submit(store, [aJob({ name: '-' }), aJob({ name: '-' })]);
    await submit(store, [aJob({ name: 'b', queue: 'other' })]);
    const claimed = await claim(store, (await register(store)).id);
    assert.equal(claimed.map(({ name }) => name).join(''), '-b--');
  });
}
