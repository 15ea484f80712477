/** The short form of `npm run attack`: everything over HTTP. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestServer } from '../kit/http.ts';
import { tryAll } from './attack.ts';
import { ADMIN_TOKEN } from './http-attacks.ts';
import { allHttpAttacks } from './http-table.ts';
import { proxyServers } from './proxy-attacks.ts';

test('attack: nothing of the table gets through, and the servers still answer', { timeout: 300_000 }, async () => {
  await using open = await openTestServer();
  await using guarded = await openTestServer({ token: ADMIN_TOKEN, maxGuesses: 1_000 });
  const proxies = await proxyServers();
  await using near = proxies.near;
  await using far = proxies.far;
  const attacks = await allHttpAttacks({ open, guarded, near, far });
  assert.ok(attacks.length >= 200, `${attacks.length} attacks`);
  const results = await tryAll(attacks);
  assert.deepEqual(
    results.flatMap(({ group, through }) => through.map(({ name, what }) => `${group}: ${name}: ${what}`)),
    [],
  );
  assert.equal((await open.call('POST', '/jobs', { command: 'true' })).status, 201);
  assert.equal((await guarded.call('GET', '/jobs', undefined, { authorization: `Bearer ${ADMIN_TOKEN}` })).status, 200);
});
