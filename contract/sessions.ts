import assert from 'node:assert/strict';
import { SEEN_EVERY_MS, type SessionKind } from '../src/core/session.ts';
import type { Store } from '../src/store/store.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';
import { aRotation, aSession, aToken } from './kit/tokens.ts';

const IDLE_MS = 1_800_000;
const KINDS: readonly SessionKind[] = ['session', 'link', 'ticket'];

/** One of each kind, of a token. Their hashes are `mark` and the kind. */
async function oneOfEach(store: Store, tokenId: number | undefined, mark: string): Promise<void> {
  assert.ok(tokenId);
  for (const kind of KINDS) {
    await store.createSession(aSession({ hash: `${mark} ${kind}`, kind, tokenId, configured: null }), forever);
  }
}

/** The kinds of which `oneOfEach` made one that is still valid. Links and tickets are used up by this. */
async function validOf(store: Store, mark: string): Promise<SessionKind[]> {
  const valid: SessionKind[] = [];
  for (const kind of KINDS) {
    const hash = `${mark} ${kind}`;
    const found =
      kind === 'session' ? store.useSession(hash, IDLE_MS, forever) : store.takeSession(hash, kind, forever);
    if ((await found) !== undefined) valid.push(kind);
  }
  return valid;
}

export function exerciseSessions(open: OpenStore): void {
  const test = withStore(open);

  test('sessions: one is read as it was made until it expires, however often it is used', async ({
    store,
    advance,
  }) => {
    await store.createSession(aSession({ hash: 'a', configured: 'main', lifeMs: 2 * IDLE_MS }), forever);
    const session = await store.useSession('a', IDLE_MS, forever);
    assert.ok(session);
    const { createdAt, seenAt, expiresAt, ...rest } = session;
    assert.deepEqual(rest, {
      hash: 'a',
      kind: 'session',
      tokenId: null,
      configured: 'main',
      parent: null,
      request: null,
    });
    assert.deepEqual([seenAt, expiresAt], [createdAt, createdAt + 2 * IDLE_MS]);
    assert.equal(await store.useSession('b', IDLE_MS, forever), undefined);
    await advance(IDLE_MS - 1_000);
    assert.ok(await store.useSession('a', IDLE_MS, forever));
    await advance(IDLE_MS - 1_000);
    assert.ok(await store.useSession('a', IDLE_MS, forever));
    await advance(2_000);
    assert.equal(await store.useSession('a', IDLE_MS, forever), undefined);
  });

  test('sessions: one that is not used ends before it expires', async ({ store, advance }) => {
    await store.createSession(aSession({ lifeMs: 10 * IDLE_MS }), forever);
    await advance(SEEN_EVERY_MS);
    const used = await store.useSession('hash', IDLE_MS, forever);
    assert.ok(used);
    assert.ok(used.seenAt >= used.createdAt + SEEN_EVERY_MS, 'the use is noted');
    await advance(IDLE_MS);
    assert.equal(await store.useSession('hash', IDLE_MS, forever), undefined);
  });

  test('sessions: a link or a ticket is taken once, by one of many, and in time', async ({ store, advance }) => {
    await store.createSession(aSession({ hash: 'link', kind: 'link' }), forever);
    await store.createSession(aSession({ hash: 'ticket', kind: 'ticket', request: 'GET /x', lifeMs: 1_000 }), forever);
    assert.equal(await store.useSession('link', IDLE_MS, forever), undefined, 'it is no session');
    assert.equal(await store.takeSession('link', 'ticket', forever), undefined, 'it is no ticket');
    const taken = await Promise.all(Array.from({ length: 6 }, () => store.takeSession('link', 'link', forever)));
    assert.equal(taken.filter((one) => one !== undefined).length, 1);
    await advance(1_000);
    assert.equal(await store.takeSession('ticket', 'ticket', forever), undefined, 'it has expired');
  });

  test('sessions: those of a revoked token stay ended when its name is used again', async ({ store }) => {
    const first = await store.createToken(aToken({ role: 'viewer' }), forever);
    const other = await store.createToken(aToken({ name: 'other' }), forever);
    await oneOfEach(store, first?.id, 'first');
    await oneOfEach(store, other?.id, 'other');
    await store.revokeToken('ci', forever);
    const second = await store.createToken(aToken({ role: 'admin' }), forever);
    await oneOfEach(store, second?.id, 'second');
    assert.deepEqual(await validOf(store, 'first'), []);
    assert.deepEqual(await validOf(store, 'second'), KINDS);
    assert.deepEqual(await validOf(store, 'other'), KINDS, 'another token is not concerned');
  });

  test('sessions: those of a token end when it expires, also if another of its name follows', async ({
    store,
    advance,
  }) => {
    const first = await store.createToken(aToken({ lifeMs: 1_000 }), forever);
    await oneOfEach(store, first?.id, 'first');
    await advance(1_000);
    assert.ok(await store.createToken(aToken(), forever));
    assert.deepEqual(await validOf(store, 'first'), []);
  });

  test('sessions: those of a rotated token end with its overlap', async ({ store, advance }) => {
    const first = await store.createToken(aToken(), forever);
    await oneOfEach(store, first?.id, 'during');
    await oneOfEach(store, first?.id, 'after');
    const second = await store.rotateToken(aRotation({ overlapMs: 10_000 }), forever);
    await oneOfEach(store, second?.id, 'second');
    assert.deepEqual(await validOf(store, 'during'), KINDS);
    await advance(10_000);
    assert.deepEqual(await validOf(store, 'after'), []);
    assert.deepEqual(await validOf(store, 'second'), KINDS);
    await oneOfEach(store, second?.id, 'at once');
    await store.rotateToken(aRotation({ overlapMs: 0 }), forever);
    assert.deepEqual(await validOf(store, 'at once'), []);
  });

  test('sessions: what a session made ends with it', async ({ store, advance }) => {
    await store.createSession(aSession({ hash: 'parent', lifeMs: 10_000 }), forever);
    const child = (hash: string, parent: string) =>
      store.createSession(aSession({ hash, kind: 'ticket', parent, lifeMs: 60_000 }), forever);
    for (const hash of ['used', 'logged out', 'expired']) await child(hash, 'parent');
    assert.equal((await store.takeSession('used', 'ticket', forever))?.parent, 'parent');
    await store.createSession(aSession({ hash: 'other' }), forever);
    await child('of other', 'other');
    await store.takeSession('other', 'session', forever);
    assert.equal(await store.takeSession('of other', 'ticket', forever), undefined, 'logged out');
    await child('late', 'other');
    assert.equal(await store.takeSession('late', 'ticket', forever), undefined, 'made after the end of its session');
    await advance(10_000);
    assert.equal(await store.takeSession('expired', 'ticket', forever), undefined);
  });

  test('sessions: what is over is deleted', async ({ store, advance }) => {
    await store.createSession(aSession({ hash: 'expired', lifeMs: 1_000 }), forever);
    await store.createSession(aSession({ hash: 'idle', lifeMs: 86_400_000 }), forever);
    await store.createSession(aSession({ hash: 'link', kind: 'link', lifeMs: 86_400_000 }), forever);
    await advance(5_000);
    assert.equal(await store.pruneSessions(IDLE_MS, forever), 1);
    assert.equal(await store.pruneSessions(2_000, forever), 1);
    assert.ok(await store.takeSession('link', 'link', forever), 'a link has no idle time');
    assert.equal(await store.takeSession('idle', 'session', forever), undefined);
    const token = await store.createToken(aToken(), forever);
    await oneOfEach(store, token?.id, 'mine');
    assert.equal(await store.pruneSessions(IDLE_MS, forever), 0);
    await store.revokeToken('ci', forever);
    assert.equal(await store.pruneSessions(IDLE_MS, forever), KINDS.length, 'their token was revoked');
  });
}
