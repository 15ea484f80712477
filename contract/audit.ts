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
    await store.addAudit([anEntry({ actor: 'bob', subject: 'queue/mail', result: 'forbidden' })], forever);
    const [second, first, ...others] = await store.audit({}, ALL, forever);
    assert.ok(first && second);
    assert.deepEqual(others, []);
    const { id, at, ...rest } = first;
    assert.deepEqual(rest, anEntry({ actor: 'ada' }));
    assert.ok(at >= now && second.at >= at + 1_000 && second.id > id);
    assert.deepEqual(await store.audit({}, { before: second.id, limit: 1 }, forever), [first]);
  });

  test('audit: is filtered by actor, by a part of the subject and by time', async ({ store, advance }) => {
    await store.addAudit([anEntry({ actor: 'ada', subject: 'job/1' })], forever);
    await advance(10_000);
    await store.addAudit([anEntry({ actor: 'bob', subject: 'job/2' })], forever);
    await store.addAudit([anEntry({ actor: 'bob', subject: 'queue/100%_a' })], forever);
    const subjects = async (filter: Parameters<typeof store.audit>[0]) =>
      (await store.audit(filter, ALL, forever)).map(({ subject }) => subject);
    assert.deepEqual(await subjects({ actor: 'ada' }), ['job/1']);
    assert.deepEqual(await subjects({ actor: 'ad' }), []);
    assert.deepEqual(await subjects({ subject: 'job/' }), ['job/2', 'job/1']);
    assert.deepEqual(await subjects({ subject: '%_' }), ['queue/100%_a'], 'no character is special');
    const [, second, first] = await store.audit({}, ALL, forever);
    assert.deepEqual(await subjects({ from: second?.at ?? 0 }), ['queue/100%_a', 'job/2']);
    assert.deepEqual(await subjects({ to: second?.at ?? 0 }), ['job/1']);
    assert.deepEqual(await subjects({ from: first?.at ?? 0, to: second?.at ?? 0, actor: 'bob' }), []);
  });

  test('audit: an entry gets its result once, after the change', async ({ store }) => {
    const [id = 0] = await store.addAudit([anEntry({ actor: 'ada', result: null })], forever);
    assert.equal((await store.audit({}, ALL, forever))[0]?.result, null);
    await store.endAudit([id], { result: 'ok', details: { total: 3 } }, forever);
    await store.endAudit([id], { result: 'internal', details: null }, forever);
    await store.endAudit([id + 1], { result: 'ok', details: null }, forever);
    const entries = await store.audit({}, ALL, forever);
    const [entry] = entries;
    assert.deepEqual([entries.length, entry?.id, entry?.result, entry?.details], [1, id, 'ok', { total: 3 }]);
  });

  test('audit: many entries are written at once, in order, and many get their result at once', async ({ store }) => {
    const subjects = ['job/3', 'job/1', 'job/2'];
    const ids = await store.addAudit(
      subjects.map((subject) => anEntry({ subject, result: null })),
      forever,
    );
    await store.endAudit(ids.slice(1), { result: 'ok', details: null }, forever);
    const entries = (await store.audit({}, ALL, forever)).reverse();
    assert.deepEqual(
      entries.map(({ id, subject, result }) => [id, subject, result]),
      [
        [ids[0], 'job/3', null],
        [ids[1], 'job/1', 'ok'],
        [ids[2], 'job/2', 'ok'],
      ],
    );
  });

  test('audit: entries are found by their whole subject, newest first', async ({ store }) => {
    const subjects = ['job/1', 'job/11', 'workflow/1', 'job/1', null];
    for (const subject of subjects) await store.addAudit([anEntry({ subject })], forever);
    const found = async (limit: number) =>
      (await store.auditOf(['job/1', 'workflow/1'], limit, forever)).map(({ subject }) => subject);
    assert.deepEqual(await found(10), ['job/1', 'workflow/1', 'job/1']);
    assert.deepEqual(await found(1), ['job/1']);
  });

  test('audit: the jobs of a bulk action are found by its entry, and left out where they are not wanted', async ({
    store,
  }) => {
    const [bulk = 0] = await store.addAudit([anEntry({ action: 'jobs.cancel', subject: null })], forever);
    const parts = ['job/1', 'job/2'].map((subject) => anEntry({ subject, partOf: bulk }));
    await store.addAudit(parts, forever);
    const [other = 0] = await store.addAudit([anEntry()], forever);
    const found = async (filter: Parameters<typeof store.audit>[0]) =>
      (await store.audit(filter, ALL, forever)).map(({ id, subject, partOf }) => [id, subject, partOf]);
    assert.deepEqual(await found({ partOf: null }), [
      [other, 'job/12', null],
      [bulk, null, null],
    ]);
    assert.deepEqual(
      (await found({ partOf: bulk })).map(([, subject, partOf]) => [subject, partOf]),
      [
        ['job/2', bulk],
        ['job/1', bulk],
      ],
    );
    assert.equal((await found({})).length, 4);
  });

  test('audit: old entries are deleted, the oldest first', async ({ store, advance }) => {
    for (const subject of ['job/1', 'job/2', 'job/3']) await store.addAudit([anEntry({ subject })], forever);
    await advance(10_000);
    await store.addAudit([anEntry({ subject: 'job/4' })], forever);
    assert.equal(await store.pruneAudit(60_000, 10, forever), 0);
    assert.equal(await store.pruneAudit(5_000, 2, forever), 2);
    assert.deepEqual(
      (await store.audit({}, ALL, forever)).map(({ subject }) => subject),
      ['job/4', 'job/3'],
    );
  });
}
