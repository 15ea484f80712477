import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { SqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { VirtualClock } from './clock.ts';
import { folderEndsWithUs } from './ends-with-us.ts';
import type { TestStore } from './store.ts';

/** A folder of its own for a test's files; disposing it leaves nothing behind. */
export async function aFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'workron-'));
  folderEndsWithUs(path);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function openTestSqlite(): Promise<TestStore & { store: SqliteStore }> {
  const folder = await aFolder();
  const clock = new VirtualClock();
  const store = await openSqlite({ file: join(folder.path, 'workron.db'), clock, log: silentLog });
  return {
    store,
    advance: (ms: number) => Promise.resolve(clock.advance(ms)),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
