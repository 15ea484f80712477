import assert from 'node:assert/strict';
import { SEEN_EVERY_MS } from '../src/core/session.ts';
import { forever } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';
import { aSession } from './kit/tokens.ts';

const IDLE_MS = 1_800_000;

export function exerciseSessions(open: OpenStore): void {
  const test = withStore(open);

  test('sessions: one is read as it was made until it expires, however often it is used', async ({
    store,
    advance,
  }) => {
    await store.createSession(aSession({ hash: 'a', caller: 'ada', lifeMs: 2 * IDLE_MS }), forever);
    const session = await store.useSession('a', IDLE_MS, forever);
    assert.ok(session);
    const { createdAt, seenAt, expiresAt, ...rest } = session;
    assert.deepEqual(rest, { hash: 'a', kind: 'session', caller: 'ada', request: null });
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

  test('sessions: what is over is deleted', async ({ store, advance }) => {
    await store.createSession(aSession({ hash: 'expired', lifeMs: 1_000 }), forever);
    await store.createSession(aSession({ hash: 'idle', lifeMs: 86_400_000 }), forever);
    await store.createSession(aSession({ hash: 'link', kind: 'link', lifeMs: 86_400_000 }), forever);
    await advance(5_000);
    assert.equal(await store.pruneSessions(IDLE_MS, forever), 1);
    assert.equal(await store.pruneSessions(2_000, forever), 1);
    assert.ok(await store.takeSession('link', 'link', forever), 'a link has no idle time');
    assert.equal(await store.takeSession('idle', 'session', forever), undefined);
  });
}
