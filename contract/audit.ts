import assert from 'node:assert/strict';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';
import { anEntry } from './kit/tokens.ts';

const ALL = { before: null, limit: 100 };

export function exerciseAudit(open: OpenStore): void {
  const test = withStore(open);

  test('audit: entries are kept as they were written, newest first', async ({ store, advance }) => {
    const now = await store.now(forever);
    await store.addAudit(anEntry({ actor: 'ada' }), forever);
    await advance(1_000);
    await store.addAudit(anEntry({ actor: 'bob', path: '/queues/mail', status: 403 }), forever);
    const [second, first, ...others] = await store.audit({}, ALL, forever);
    assert.ok(first && second);
    assert.deepEqual(others, []);
    const { id, at, ...rest } = first;
    assert.deepEqual(rest, anEntry({ actor: 'ada' }));
    assert.ok(at >= now && second.at >= at + 1_000 && second.id > id);
    assert.deepEqual(await store.audit({}, { before: second.id, limit: 1 }, forever), [first]);
  });

  test('audit: is filtered by actor, by a part of the path and by time', async ({ store, advance }) => {
    await store.addAudit(anEntry({ actor: 'ada', path: '/jobs/1/cancel' }), forever);
    await advance(10_000);
    await store.addAudit(anEntry({ actor: 'bob', path: '/jobs/2/cancel' }), forever);
    await store.addAudit(anEntry({ actor: 'bob', path: '/queues/100%_a' }), forever);
    const paths = async (filter: Parameters<typeof store.audit>[0]) =>
      (await store.audit(filter, ALL, forever)).map(({ path }) => path);
    assert.deepEqual(await paths({ actor: 'ada' }), ['/jobs/1/cancel']);
    assert.deepEqual(await paths({ actor: 'ad' }), []);
    assert.deepEqual(await paths({ path: '/jobs' }), ['/jobs/2/cancel', '/jobs/1/cancel']);
    assert.deepEqual(await paths({ path: '%_' }), ['/queues/100%_a'], 'no character is special');
    const [, second, first] = await store.audit({}, ALL, forever);
    assert.deepEqual(await paths({ from: second?.at ?? 0 }), ['/queues/100%_a', '/jobs/2/cancel']);
    assert.deepEqual(await paths({ to: second?.at ?? 0 }), ['/jobs/1/cancel']);
    assert.deepEqual(await paths({ from: first?.at ?? 0, to: second?.at ?? 0, actor: 'bob' }), []);
  });

  test('audit: old entries are deleted, the oldest first', async ({ store, advance }) => {
    for (const path of ['/1', '/2', '/3']) await store.addAudit(anEntry({ path }), forever);
    await advance(10_000);
    await store.addAudit(anEntry({ path: '/4' }), forever);
    assert.equal(await store.pruneAudit(60_000, 10, forever), 0);
    assert.equal(await store.pruneAudit(5_000, 2, forever), 2);
    assert.deepEqual(
      (await store.audit({}, ALL, forever)).map(({ path }) => path),
      ['/4', '/3'],
    );
  });
}
