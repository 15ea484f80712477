/** Jobs in this process's memory, for tests and for trying things out: SQLite without a file and without threads. */

import type { Clock } from '../../core/clock.ts';
import { LocalHints } from '../hint.ts';
import { Database } from '../sqlite/base/database.ts';
import { engineMethods } from '../sqlite/base/engine.ts';
import { migrate } from '../sqlite/base/migrate.ts';
import type { Methods } from '../sqlite/base/protocol.ts';
import { type ReaderMethods, readerMethods } from '../sqlite/base/reader-methods.ts';
import { storeOn } from '../sqlite/base/store-on.ts';
import { type WriterMethods, writerMethods } from '../sqlite/base/writer-methods.ts';
import type { Store } from '../store.ts';
import { Connection } from './connection.ts';

export function openMemory({ clock }: { clock: Clock }): Store {
  const database = new Database(':memory:', { readOnly: false });
  database.script('pragma temp_store = memory');
  migrate(database, 0);
  const turn = { last: Promise.resolve() };
  const hints = new LocalHints((announce) => void quiet(turn).then(announce));
  const connect = <M extends Methods>(methods: Methods, begin: 'begin' | null) =>
    new Connection<M>({
      served: { database, file: 'memory', methods, begin },
      turn,
      clock,
      onChanged: (changed) => hints.announce(changed),
    });
  const writer = connect<WriterMethods>({ ...writerMethods, ...engineMethods('write', 'urgent') }, 'begin');
  const reader = connect<ReaderMethods>({ ...readerMethods, ...engineMethods('read') }, null);
  const store = storeOn({ writer, reader, file: 'memory', clock }, hints, {
    driver: 'memory',
    location: 'memory',
    transactional: null,
    checkWritable: async (signal) => void (await writer.call('now', [], signal)),
  });
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      database[Symbol.dispose]();
    },
  };
}

/** Resolves when all calls are answered. */
async function quiet(turn: { last: Promise<unknown> }): Promise<void> {
  let seen: Promise<unknown>;
  do {
    seen = turn.last;
    await seen;
  } while (seen !== turn.last);
}
