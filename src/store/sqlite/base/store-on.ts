/** The store of a SQLite database: encodes, calls the database's side and decodes. */

import { askAll, bindAll } from '../../bind.ts';
import { engine } from '../../engine/engine.ts';
import type { LocalHints } from '../../hint.ts';
import { callable, withNext } from '../../sql/tx.ts';
import type { Store } from '../../store.ts';
import { calls, type Threads } from './calls.ts';
import { engineMethods } from './engine.ts';
import type { Methods } from './protocol.ts';
import { readerMethods } from './reader-methods.ts';
import type { Calls } from './thread.ts';
import { urgentReads, writerMethods } from './writer-methods.ts';

const parts = withNext(engine);

type Own = Pick<Store, 'driver' | 'location' | 'transactional'> & Partial<Pick<Store, 'checkWritable'>>;

export function storeOn(threads: Threads, hints: LocalHints, own: Own): Store {
  const { writer, reader } = threads;
  return {
    exclusive: true,
    leaseKeeper: null,
    deadlocks: () => 0,
    ...askAll(writerMethods, (name, args, signal) => writer.call(name, args as never, signal)),
    ...askAll(readerMethods, (name, args, signal) => reader.call(name, args as never, signal)),
    ...callable(engine, (name, args, signal) => {
      const thread = parts[name]?.mode === 'read' ? reader : writer;
      return (thread as Calls<Methods>).call(name, args as never, signal);
    }),
    ...bindAll(calls, threads),
    ...own,
    fenced: (fence) =>
      storeOn({ ...threads, writer: writer.fenced(fence, { ...urgentReads, ...engineMethods('urgent') }) }, hints, own),
    subscribe: (listener) => hints.subscribe(listener),
    observe: (observer) => hints.observe(observer),
    /** Calls in flight are answered first. A file is left whole, without its write-ahead log. */
    async [Symbol.asyncDispose]() {
      await reader.close();
      await writer.close();
    },
  };
}
