/**
 * To be loaded before a program (`--import`): counts the steps that SQLite's virtual machine takes in all of its threads,
 * and tells them to whoever asks. node:sqlite has no count of pages.
 */

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { BroadcastChannel, isMainThread } from 'node:worker_threads';

/** Not in the types yet. */
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
    tell(
      channel,
      statements.reduce((total, statement) => total + statement.stat('vmStep'), 0),
    );
  });
  channel.unref();
}

function tell(channel: BroadcastChannel, message: 'ask' | number): void {
  // Of threads, not of windows.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  channel.postMessage(message);
}

/** The sum of what so many threads answer. */
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
    tell(channel, 'ask');
  });
  channel.close();
  return answers.reduce((total, steps) => total + steps, 0);
}
