/**
 * Loaded before a program (`--import`): counts the steps of SQLite's virtual machine in all threads, and reports them on
 * request. node:sqlite has no count of pages.
 */

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** Missing in the types of Node. */
interface Counted extends StatementSync {
  stat(counter: 'vmStep'): number;
}

const CHANNEL = 'workron-sqlite-steps';

if (!isMainThread) {
  const statements: Counted[] = [];
  const prepare: (this: DatabaseSync, sql: string) => StatementSync = Reflect.get(DatabaseSync.prototype, 'prepare');
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql) {
    const statement = prepare.call(this, sql) as Counted;
    statements.push(statement);
    return statement;
  };
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener('message', (event) => {
    if ((event as { data: unknown }).data !== 'ask') return;
    post(
      channel,
      statements.reduce((total, statement) => total + statement.stat('vmStep'), 0),
    );
  });
  channel.unref();
}

function post(channel: BroadcastChannel, message: 'ask' | number): void {
  // This is a worker thread, not a window.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(message);
}

/** The sum of the steps of `threads` threads. */
export async function stepsSoFar(threads: number): Promise<number> {
  const channel = new BroadcastChannel(CHANNEL);
  const answers: number[] = [];
  await new Promise<void>((resolve) => {
    channel.addEventListener('message', (event) => {
      const { data } = event as { data: unknown };
      if (typeof data !== 'number') return;
      answers.push(data);
      if (answers.length === threads) resolve();
    });
    post(channel, 'ask');
  });
  channel.close();
  return answers.reduce((total, steps) => total + steps, 0);
}
