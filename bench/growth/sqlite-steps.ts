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

export const CHANNEL = 'workron-sqlite-steps';

if (!isMainThread) {
  const statements: Counted[] = [];
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...input: Parameters<typeof prepare>) {
    const statement = prepare.apply(this, input) as Counted;
    statements.push(statement);
    return statement;
  };
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = (event) => {
    const { data } = event as { data: unknown };
    if (data === 'ask')
      channel.postMessage(statements.reduce((total, statement) => total + statement.stat('vmStep'), 0));
  };
  channel.unref();
}

/** The sum of what so many threads answer. */
export async function stepsSoFar(threads: number): Promise<number> {
  const channel = new BroadcastChannel(CHANNEL);
  const answers: number[] = [];
  await new Promise<void>((resolve) => {
    channel.onmessage = (event) => {
      const { data } = event as { data: unknown };
      if (typeof data !== 'number') return;
      answers.push(data);
      if (answers.length === threads) resolve();
    };
    channel.postMessage('ask');
  });
  channel.close();
  return answers.reduce((total, steps) => total + steps, 0);
}
