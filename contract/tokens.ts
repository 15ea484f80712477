import assert from 'node:assert/strict';
import type { Store } from '../src/store/store.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';
import { aRotation, aToken } from './kit/tokens.ts';

/** The hashes of the tokens that are valid now. */
async function hashes(store: Store): Promise<string[]> {
  return (await store.validTokens(forever)).map(({ hash }) => hash);
}

export function exerciseTokens(open: OpenStore): void {
  const test = withStore(open);

  test('tokens: one is stored as it was made, and listed without its hash', async ({ store }) => {
    const now = await store.now(forever);
    const made = await store.createToken(
      aToken({ name: 'render', role: 'worker', queues: ['a', 'b'], hash: 'h1', lifeMs: 5_000 }),
      forever,
    );
    assert.ok(made);
    const { id, createdAt, expiresAt, ...rest } = made;
    assert.ok(createdAt >= now);
    assert.equal(expiresAt, createdAt + 5_000);
    assert.deepEqual(rest, {
      name: 'render',
      role: 'worker',
      queues: ['a', 'b'],
      createdBy: 'ada',
      replacedAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    assert.deepEqual(await store.tokens(forever), [made]);
    assert.deepEqual(await store.validTokens(forever), [{ ...made, hash: 'h1' }]);
    assert.ok(id > 0);
  });

  test('tokens: a name has one token until it is revoked or expired', async ({ store, advance }) => {
    assert.ok(await store.createToken(aToken({ hash: 'h1', lifeMs: 5_000 }), forever));
    assert.equal(await store.createToken(aToken(), forever), undefined);
    assert.ok(await store.createToken(aToken({ name: 'other', hash: 'h2' }), forever));
    await advance(5_000);
    assert.deepEqual(await hashes(store), ['h2'], 'it has expired');
    assert.ok(await store.createToken(aToken({ hash: 'h3' }), forever));
    assert.equal(await store.revokeToken('ci', forever), 1);
    assert.equal(await store.revokeToken('ci', forever), 0, 'it is revoked');
    assert.ok(await store.createToken(aToken({ hash: 'h4' }), forever));
    assert.deepEqual(await hashes(store), ['h4', 'h2']);
  });

  test('tokens: of two that are made at once under one name, one is stored', async ({ store }) => {
    const made = await Promise.all(Array.from({ length: 8 }, () => store.createToken(aToken(), forever)));
    assert.equal(made.filter((token) => token !== undefined).length, 1);
    assert.equal((await store.tokens(forever)).length, 1);
  });

  test('tokens: after a rotation both are valid until the overlap is over', async ({ store, advance }) => {
    await store.createToken(aToken({ role: 'submitter', queues: ['mail'], hash: 'h1' }), forever);
    const made = await store.rotateToken(aRotation({ hash: 'h2', overlapMs: 10_000 }), forever);
    assert.deepEqual(
      [made?.role, made?.queues, made?.expiresAt, made?.createdBy],
      ['submitter', ['mail'], null, 'bob'],
    );
    assert.deepEqual(await hashes(store), ['h2', 'h1']);
    const [, old] = await store.tokens(forever);
    assert.ok(old?.replacedAt);
    assert.equal(old.expiresAt, old.replacedAt + 10_000);
    await advance(10_000);
    assert.deepEqual(await hashes(store), ['h2']);
  });

  test('tokens: a second rotation revokes the first of three', async ({ store }) => {
    await store.createToken(aToken({ hash: 'h1' }), forever);
    await store.rotateToken(aRotation({ hash: 'h2' }), forever);
    await store.rotateToken(aRotation({ hash: 'h3' }), forever);
    assert.deepEqual(await hashes(store), ['h3', 'h2']);
    assert.equal(await store.revokeToken('ci', forever), 2, 'a revocation ends both');
    assert.deepEqual(await hashes(store), []);
    assert.equal(await store.rotateToken(aRotation(), forever), undefined, 'there is none to rotate');
  });

  test('tokens: a rotation keeps the life of the old one, unless it has its own, and never extends the old one', async ({
    store,
    advance,
  }) => {
    await store.createToken(aToken({ lifeMs: 90_000, hash: 'h1' }), forever);
    await advance(80_000);
    const second = await store.rotateToken(aRotation({ overlapMs: 60_000, hash: 'h2' }), forever);
    assert.ok(second);
    assert.equal(second.expiresAt, second.createdAt + 90_000);
    await advance(10_000);
    assert.deepEqual(await hashes(store), ['h2'], 'the old one expired when it should');
    const third = await store.rotateToken(aRotation({ lifeMs: null }), forever);
    assert.equal(third?.expiresAt, null);
    const fourth = await store.rotateToken(aRotation({ lifeMs: 1_000 }), forever);
    assert.equal(fourth?.expiresAt, (fourth?.createdAt ?? 0) + 1_000);
  });

  test('tokens: rotations at once happen one by one', async ({ store }) => {
    await store.createToken(aToken(), forever);
    const made = await Promise.all(Array.from({ length: 6 }, () => store.rotateToken(aRotation(), forever)));
    assert.equal(new Set(made.map((token) => token?.id)).size, 6);
    assert.equal((await hashes(store)).length, 2);
  });

  test('tokens: the last use is noted', async ({ store, advance }) => {
    const made = await store.createToken(aToken(), forever);
    await advance(1_000);
    await store.touchTokens([made?.id ?? 0, 9_999], forever);
    const [token] = await store.tokens(forever);
    assert.ok((token?.lastUsedAt ?? 0) >= (made?.createdAt ?? 0) + 1_000);
  });

  test('tokens: one that has long been invalid is deleted, a valid one never', async ({ store, advance }) => {
    await store.createToken(aToken({ name: 'valid' }), forever);
    await store.createToken(aToken({ name: 'expired', lifeMs: 1_000 }), forever);
    await store.createToken(aToken({ name: 'revoked', lifeMs: 86_400_000 }), forever);
    await store.revokeToken('revoked', forever);
    await advance(5_000);
    assert.equal(await store.pruneTokens(60_000, forever), 0);
    assert.equal(await store.pruneTokens(1_000, forever), 2);
    assert.deepEqual(
      (await store.tokens(forever)).map(({ name }) => name),
      ['valid'],
    );
  });
}
