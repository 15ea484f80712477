/** Stores of which a test can see everything that is stored, as it is stored. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/ops/clock.ts';
import { KeyRing } from '../../src/ops/key-ring.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openTestServer, type TestServer } from './http.ts';
import { openTestPostgres } from './postgres.ts';
import { aFolder } from './sqlite.ts';

interface RawStore extends AsyncDisposable {
  store: Store;
  /** Everything that is stored, as it is stored. */
  raw(): Promise<string>;
}

export const RAW_STORES: Record<string, () => Promise<RawStore>> = {
  async memory() {
    const kept: unknown[] = [];
    const memory = openMemory({ clock: systemClock });
    // What reaches the store is all that it can keep.
    const store = new Proxy(memory, {
      get(target, name) {
        const method: unknown = target[name as keyof Store];
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => {
          kept.push(args.map((arg) => (isIterable(arg) ? { ...arg, steps: [...arg.steps] } : arg)));
          return Reflect.apply(method, target, args) as unknown;
        };
      },
    });
    return { store, raw: async () => JSON.stringify(kept), [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose]() };
  },
  async sqlite() {
    const folder = await aFolder();
    const file = join(folder.path, 'workron.db');
    const store = await openSqlite({ file, clock: systemClock, log: silentLog });
    return {
      store,
      raw: async () => [file, `${file}-wal`].map((path) => readFileSync(path, 'latin1')).join(''),
      async [Symbol.asyncDispose]() {
        await store[Symbol.asyncDispose]();
        await folder[Symbol.asyncDispose]();
      },
    };
  },
  async postgres() {
    const { store, schema, query, ...rest } = await openTestPostgres();
    const raw = async () => {
      const tables = await query<{ name: string }>(
        `select table_name as name from information_schema.tables where table_schema = $1 and table_type = 'BASE TABLE'`,
        [schema],
      );
      const texts = await Promise.all(
        tables.map(({ name }) => query(`select row_to_json(t)::text as row from "${schema}"."${name}" t`)),
      );
      return JSON.stringify(texts);
    };
    return { store, raw, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] };
  },
};

function isIterable(value: unknown): value is { steps: Iterable<unknown> } {
  return typeof value === 'object' && value !== null && 'steps' in value;
}

/** The answer to a call that succeeds. */
export async function made(server: TestServer, method: string, path: string, body?: unknown) {
  const answer = await server.call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A server on the store, beside others, with these keys for secrets; the first one seals. */
export function openWithKeys(store: Store, keys: readonly string[]): Promise<TestServer> {
  const secretKeys = keys.length === 0 ? null : KeyRing.parse(keys.join('\n'));
  return openTestServer({ store, secretKeys, instanceId: randomBytes(4).toString('hex') });
}
