import assert from 'node:assert/strict';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';
import { anEntry } from './kit/tokens.ts';

const ALL = { before: null, limit: 100 };

export function exerciseAudit(open: OpenStore): void {
  const test = withStore(open);

  test('audit: entries are kept as they were written, newest first', async ({ store, advance }) => {
    const now = await store.now(forever);
    await store.addAudit([anEntry({ actor: 'ada' })], forever);
    await advance(1_000);
    await store.addAudit([anEntry({ actor: 'bob', path: '/queues/mail', status: 403 })], forever);
    const [second, first, ...others] = await store.audit({}, ALL, forever);
    assert.ok(first && second);
    assert.deepEqual(others, []);
    const { id, at, ...rest } = first;
    assert.deepEqual(rest, anEntry({ actor: 'ada' }));
    assert.ok(at >= now && second.at >= at + 1_000 && second.id > id);
    assert.deepEqual(await store.audit({}, { before: second.id, limit: 1 }, forever), [first]);
  });

  test('audit: is filtered by actor, by a part of the path and by time', async ({ store, advance }) => {
    await store.addAudit([anEntry({ actor: 'ada', path: '/jobs/1/cancel' })], forever);
    await advance(10_000);
    await store.addAudit([anEntry({ actor: 'bob', path: '/jobs/2/cancel' })], forever);
    await store.addAudit([anEntry({ actor: 'bob', path: '/queues/100%_a' })], forever);
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

  test('audit: an entry gets its result once, after the change', async ({ store }) => {
    const [id = 0] = await store.addAudit([anEntry({ actor: 'ada', status: null })], forever);
    assert.equal((await store.audit({}, ALL, forever))[0]?.status, null);
    await store.endAudit([id], 202, forever);
    await store.endAudit([id], 500, forever);
    await store.endAudit([id + 1], 200, forever);
    const entries = await store.audit({}, ALL, forever);
    assert.deepEqual([entries.length, entries[0]?.id, entries[0]?.status], [1, id, 202]);
  });

  test('audit: many entries are written at once, in order, and many get their result at once', async ({ store }) => {
    const paths = ['/jobs/3', '/jobs/1', '/jobs/2'];
    const ids = await store.addAudit(
      paths.map((path) => anEntry({ path, status: null })),
      forever,
    );
    await store.endAudit(ids.slice(1), 200, forever);
    const entries = (await store.audit({}, ALL, forever)).reverse();
    assert.deepEqual(
      entries.map(({ id, path, status }) => [id, path, status]),
      [
        [ids[0], '/jobs/3', null],
        [ids[1], '/jobs/1', 200],
        [ids[2], '/jobs/2', 200],
      ],
    );
  });

  test('audit: entries are found by their whole path, newest first', async ({ store }) => {
    const paths = ['/jobs/1/cancel', '/jobs/11/cancel', '/jobs/1/retry', '/jobs/1/cancel'];
    for (const path of paths) await store.addAudit([anEntry({ path })], forever);
    const found = async (limit: number) =>
      (await store.auditOf(['/jobs/1/cancel', '/jobs/1/retry'], limit, forever)).map(({ path }) => path);
    assert.deepEqual(await found(10), ['/jobs/1/cancel', '/jobs/1/retry', '/jobs/1/cancel']);
    assert.deepEqual(await found(1), ['/jobs/1/cancel']);
  });

  test('audit: old entries are deleted, the oldest first', async ({ store, advance }) => {
    for (const path of ['/1', '/2', '/3']) await store.addAudit([anEntry({ path })], forever);
    await advance(10_000);
    await store.addAudit([anEntry({ path: '/4' })], forever);
    assert.equal(await store.pruneAudit(60_000, 10, forever), 0);
    assert.equal(await store.pruneAudit(5_000, 2, forever), 2);
    assert.deepEqual(
      (await store.audit({}, ALL, forever)).map(({ path }) => path),
      ['/4', '/3'],
    );
  });
}
