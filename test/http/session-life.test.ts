/** How long a session of the dashboard lasts, on real stores. Each request is the first one of a scheduler, which has nothing cached. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestStore } from '../../contract/kit/store.ts';
import { SESSION_HEADER } from '../../src/api/session.ts';
import { openTestServer } from '../kit/http.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { openTestSqlite } from '../kit/sqlite.ts';

const TOKEN = 'a-configured-token-of-many-characters';
const HOUR_MS = 3_600_000;

const STORES: Record<string, () => Promise<TestStore>> = { sqlite: openTestSqlite, postgres: openTestPostgres };

for (const [name, openStore] of Object.entries(STORES)) {
  test(`session on ${name}: ends after a day without use, after seven days with it, and by logging out`, async () => {
    await using opened = await openStore();
    const { store } = opened;
    const call = async (method: string, headers: Record<string, string>) => {
      await using server = await openTestServer({ token: TOKEN, store });
      const answer = await server.call(method, '/session', undefined, headers);
      const cookie = answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '';
      return { status: answer.status, halves: { cookie, [SESSION_HEADER]: String(answer.body.key) } };
    };
    const logIn = async () => (await call('POST', { authorization: `Bearer ${TOKEN}` })).halves;
    const read = async (halves: Record<string, string>) => (await call('GET', halves)).status;

    const [used, idle, loggedOut] = [await logIn(), await logIn(), await logIn()];
    assert.equal(await read(loggedOut), 200);
    assert.equal((await call('DELETE', loggedOut)).status, 200);
    assert.equal(await read(loggedOut), 401, 'the server has forgotten it, whatever the browser keeps');

    for (let day = 1; day <= 7; day += 1) {
      await opened.advance(23 * HOUR_MS);
      assert.equal(await read(used), 200, `used after ${23 * day} hours`);
    }
    assert.equal(await read(idle), 401, 'not used for a day');
    await opened.advance(8 * HOUR_MS);
    assert.equal(await read(used), 401, 'after seven days');
  });
}
