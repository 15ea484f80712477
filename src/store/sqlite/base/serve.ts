/**
 * The loop of a thread. Requests that have queued up share one commit: each is atomic (a savepoint), and none is answered
 * before the commit.
 */

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Changes } from '../../hint.ts';
import { requireTerm } from '../cluster/leadership.ts';
import { GraphUpdate } from '../graph/graph-update.ts';
import { LaneHeads } from '../jobs/lane-heads.ts';
import { Lanes } from '../jobs/lanes.ts';
import { FairQueues } from '../jobs/turns.ts';
import type { Context } from './context.ts';
import type { Database } from './database.ts';
import { encodeFailure } from './failure.ts';
import { type Methods, send, type ThreadAnswer, type ThreadRequest, type ToThread } from './protocol.ts';
import { isBusy, toStoreError } from './store-error.ts';

interface Served {
  database: Database;
  file: string;
  methods: Methods;
  /** The statement that begins a transaction. */
  begin: 'begin' | 'begin immediate';
  /** The maximum number of requests that share a transaction. */
  maxGroup: number;
  close(): void;
}

type Method = (context: Context, ...args: readonly unknown[]) => unknown;

/** The caches that a thread keeps between calls. */
type Memo = Pick<Context, 'lanes' | 'heads' | 'fairQueues'>;

/** Answers requests from `port` until it receives `close`. */
export function serve(port: MessagePort, served: Served): void {
  const { database } = served;
  const lanes = new Lanes(database);
  const memo: Memo = { lanes, heads: new LaneHeads(database, lanes), fairQueues: new FairQueues(database) };
  port.on('message', (first: ToThread) => {
    const group: ThreadRequest[] = [];
    let message: ToThread | undefined = first;
    while (message !== undefined && message !== 'close') {
      group.push(message);
      message = group.length < served.maxGroup ? received(port) : undefined;
    }
    if (group.length > 0) send(port, { answers: answer(served, memo, group) });
    if (message === 'close') {
      served.close();
      send(port, { closed: true });
      port.close();
    }
  });
  send(port, { ready: true });
}

function received(port: MessagePort): ToThread | undefined {
  return receiveMessageOnPort(port)?.message as ToThread | undefined;
}

function answer(served: Served, memo: Memo, group: readonly ThreadRequest[]): ThreadAnswer[] {
  try {
    return commitTogether(served, memo, group);
  } catch (error) {
    if (served.database.inTransaction) served.database.run('rollback');
    forget(memo);
    // One request may have failed the others: each gets its own transaction. After a lock time-out that would not help.
    if (group.length > 1 && !isBusy(error)) return group.flatMap((request) => answer(served, memo, [request]));
    const failure = encodeFailure(toStoreError(error, served.file));
    return group.map(({ id }) => ({ id, failure }));
  }
}

function commitTogether(served: Served, memo: Memo, group: readonly ThreadRequest[]): ThreadAnswer[] {
  const { database } = served;
  database.run(served.begin);
  const answers =
    group.length === 1
      ? group.map((request) => perform(served, memo, request))
      : group.map((request) => performInSavepoint(served, memo, request));
  database.run('commit');
  return answers;
}

function performInSavepoint(served: Served, memo: Memo, request: ThreadRequest): ThreadAnswer {
  const { database } = served;
  database.run('savepoint request');
  try {
    const done = perform(served, memo, request);
    database.run('release request');
    return done;
  } catch (error) {
    // A full disk may have ended the whole transaction, and with it the work of all requests.
    if (!database.inTransaction) throw error;
    database.run('rollback to request');
    database.run('release request');
    forget(memo);
    return { id: request.id, failure: encodeFailure(toStoreError(error, served.file)) };
  }
}

/** What a transaction wrote that was rolled back does not exist. */
function forget({ lanes, heads, fairQueues }: Memo): void {
  lanes.forget();
  heads.forget();
  fairQueues.forget();
}

function perform(
  { database, methods }: Served,
  memo: Memo,
  { id, method, now, args, fence }: ThreadRequest,
): ThreadAnswer {
  const effects = new Changes();
  const context = { database, ...memo, now, effects, graphUpdate: new GraphUpdate() };
  if (fence !== undefined) requireTerm(context, fence);
  const value = (methods[method] as Method | undefined)?.(context, ...args);
  context.graphUpdate.write(context);
  if (effects.reordered) memo.heads.forget();
  return effects.isEmpty ? { id, value } : { id, value, changed: effects.toMessage() };
}
