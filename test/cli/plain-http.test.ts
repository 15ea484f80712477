import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyExposed } from '../../src/ops/plain-http.ts';
import { callWorkron } from '../kit/command-line.ts';

test('plain http: a token is exposed only over http, to another machine', () => {
  for (const url of ['http://127.0.0.1:8080', 'http://localhost', 'http://[::1]:80', 'https://workron.example']) {
    assert.equal(whyExposed(url, 'token'), null, url);
  }
  for (const url of [
    'http://workron.example',
    'http://10.0.0.7:8080',
    'http://127.0.0.1.evil.example',
    'http://0.0.0.0',
  ]) {
    assert.match(whyExposed(url, 'token') ?? '', /unencrypted/, url);
    assert.equal(whyExposed(url, null), null, 'there is nothing to expose');
  }
});

test('plain http: a command warns once', async () => {
  const { stderr } = await callWorkron(['jobs', '--url', 'http://0.0.0.0:1'], {
    env: { WORKRON_TOKEN: 'hush-hush-hush' },
  });
  assert.equal(stderr.match(/the token goes to 0\.0\.0\.0 unencrypted/g)?.length, 1);
});
