import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { KeyRing } from '../../src/ops/key-ring.ts';

const key = () => randomBytes(32).toString('base64');

test('keys: what one key seals, only that key opens, and only under the same name', () => {
  const [mine, other] = [KeyRing.parse(key()), KeyRing.parse(key())];
  const secret = mine.seal('db-password', 'hunter2-ü');
  assert.ok(!Buffer.from(secret.sealed, 'base64').includes('hunter2'));
  assert.equal(mine.open(secret), 'hunter2-ü');
  assert.equal(other.open(secret), undefined);
  assert.equal(other.open({ ...secret, keyId: other.keyId }), undefined);
  assert.equal(mine.open({ ...secret, name: 'another' }), undefined);
  const bytes = Buffer.from(secret.sealed, 'base64');
  for (const place of [0, 12, bytes.length - 1]) {
    const changed = Buffer.from(bytes);
    changed[place] = (changed[place] as number) ^ 1;
    assert.equal(mine.open({ ...secret, sealed: changed.toString('base64') }), undefined, `byte ${place}`);
  }
  assert.equal(mine.open({ ...secret, sealed: '' }), undefined);
  assert.notEqual(mine.seal('db-password', 'hunter2-ü').sealed, secret.sealed, 'a nonce is used once');
});

test('keys: the first line seals, all lines open', () => {
  const [old, fresh] = [key(), Buffer.from(key(), 'base64').toString('hex')];
  const secret = KeyRing.parse(old).seal('s', 'value-of-it');
  const ring = KeyRing.parse(`# new\n${fresh}\n\n${old}\n`);
  assert.equal(ring.open(secret), 'value-of-it');
  assert.notEqual(ring.seal('s', 'value-of-it').keyId, secret.keyId);
});

test('keys: malformed ones are refused', () => {
  for (const text of ['', '#\n', 'short', randomBytes(31).toString('base64'), `${key()}\nx`]) {
    assert.throws(() => KeyRing.parse(text), /32 bytes/);
  }
});
