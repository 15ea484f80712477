import assert from 'node:assert/strict';
import type { SealedSecret } from '../src/core/secret.ts';
import { aJob } from './kit/builders.ts';
import { claimOne, forever, readOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

function sealed(wanted: Partial<SealedSecret> = {}): SealedSecret {
  return { name: 'db-password', keyId: 'k1', sealed: 'c2VhbGVk', ...wanted };
}

export function exerciseSecrets(open: OpenStore): void {
  const test = withStore(open);

  test('secrets: one is stored as it is sealed, and set again in its place', async ({ store, advance }) => {
    const first = await store.putSecret(sealed(), forever);
    assert.deepEqual([first.name, first.keyId, first.sealed], ['db-password', 'k1', 'c2VhbGVk']);
    assert.equal(first.createdAt, first.updatedAt);
    await advance(1_000);
    const second = await store.putSecret(sealed({ keyId: 'k2', sealed: 'bmV3' }), forever);
    assert.deepEqual([second.keyId, second.sealed, second.createdAt], ['k2', 'bmV3', first.createdAt]);
    assert.ok(second.updatedAt >= first.updatedAt + 1_000);
    assert.deepEqual(await store.secrets(null, forever), [second]);
  });

  test('secrets: they are listed by name, all or those that are asked for', async ({ store }) => {
    for (const name of ['b', 'a', 'a.b', 'a-b']) await store.putSecret(sealed({ name }), forever);
    const names = async (wanted: string[] | null) => (await store.secrets(wanted, forever)).map(({ name }) => name);
    assert.deepEqual(await names(null), ['a', 'a-b', 'a.b', 'b']);
    assert.deepEqual(await names(['b', 'a', 'b', 'none']), ['a', 'b']);
    assert.deepEqual(await names([]), []);
    assert.equal(await store.deleteSecret('a', forever), true);
    assert.equal(await store.deleteSecret('a', forever), false);
    assert.deepEqual(await names(null), ['a-b', 'a.b', 'b']);
  });

  test('secrets: one that was set in the meantime is not sealed again', async ({ store }) => {
    const { updatedAt } = await store.putSecret(sealed({ sealed: 'old' }), forever);
    assert.equal(await store.resealSecret(sealed({ keyId: 'k2', sealed: 'new' }), 'old', forever), true);
    assert.equal(await store.resealSecret(sealed({ keyId: 'k3', sealed: 'lost' }), 'old', forever), false);
    assert.equal(await store.resealSecret(sealed({ name: 'none' }), 'old', forever), false);
    const [row] = await store.secrets(null, forever);
    assert.deepEqual([row?.keyId, row?.sealed, row?.updatedAt], ['k2', 'new', updatedAt]);
  });

  test('secrets: a job keeps the names of its secrets in its environment', async ({ store }) => {
    const env = { PW: { secret: 'db-password' }, PLAIN: 'x' };
    const { job } = await claimOne(store, aJob({ env }));
    assert.deepEqual(job.env, env);
    assert.deepEqual((await readOne(store, job.id)).env, env);
  });
}
