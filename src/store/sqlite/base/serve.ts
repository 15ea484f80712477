/**
 * The loop of a thread. Requests that have queued up meanwhile share one commit: each is atomic on its own (a savepoint),
 * and none is answered before the commit.
 */

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { Changes } from '../../hint.ts';
import { requireTerm } from '../cluster/leadership.ts';
import { Aftermath } from '../graph/aftermath.ts';
import { Lanes } from '../jobs/lanes.ts';
import { FairQueues } from '../jobs/turns.ts';
import type { Context } from './context.ts';
import type { Database } from './database.ts';
import { encodeFailure } from './failure.ts';
import { type Answer, type Methods, type Request, send, type ToThread } from './protocol.ts';
import { isBusy, translate } from './sqlite-error.ts';

export interface Served {
  database: Database;
  file: string;
  methods: Methods;
  /** How its transactions begin. */
  begin: 'begin' | 'begin immediate';
  /** Requests that share a transaction at most. */
  maxGroup: number;
  close(): void;
}

type Method = (context: Context, ...args: readonly unknown[]) => unknown;

/** What a thread remembers of the file from call to call. */
type Memo = Pick<Context, 'lanes' | 'fairQueues'>;

/** Answers what comes through `port` until it is told to close. */
export function serve(port: MessagePort, served: Served): void {
  const { database } = served;
  const memo: Memo = { lanes: new Lanes(database), fairQueues: new FairQueues(database) };
  port.on('message', (first: ToThread) => {
    const group: Request[] = [];
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

function answer(served: Served, memo: Memo, group: readonly Request[]): Answer[] {
  try {
    return commitTogether(served, memo, group);
  } catch (error) {
    if (served.database.inTransaction) served.database.run('rollback');
    memo.lanes.forget();
    memo.fairQueues.forget();
    // What failed for all may be the fault of one: each gets a transaction of its own. Waiting for a lock again would not
    // help anybody.
    if (group.length > 1 && !isBusy(error)) return group.flatMap((request) => answer(served, memo, [request]));
    const failure = encodeFailure(translate(error, served.file));
    return group.map(({ id }) => ({ id, failure }));
  }
}

function commitTogether(served: Served, memo: Memo, group: readonly Request[]): Answer[] {
  const { database } = served;
  database.run(served.begin);
  const answers =
    group.length === 1
      ? group.map((request) => perform(served, memo, request))
      : group.map((request) => performInSavepoint(served, memo, request));
  database.run('commit');
  return answers;
}

function performInSavepoint(served: Served, memo: Memo, request: Request): Answer {
  const { database } = served;
  database.run('savepoint request');
  try {
    const done = perform(served, memo, request);
    database.run('release request');
    return done;
  } catch (error) {
    // A full disk may have ended the whole transaction: then nobody's work is there.
    if (!database.inTransaction) throw error;
    database.run('rollback to request');
    database.run('release request');
    memo.lanes.forget();
    memo.fairQueues.forget();
    return { id: request.id, failure: encodeFailure(translate(error, served.file)) };
  }
}

function perform({ database, methods }: Served, memo: Memo, { id, method, now, args, fence }: Request): Answer {
  const effects = new Changes();
  const context = { database, ...memo, now, effects, aftermath: new Aftermath() };
  if (fence !== undefined) requireTerm(context, fence);
  const value = (methods[method] as Method | undefined)?.(context, ...args);
  context.aftermath.finish(context);
  return effects.isEmpty ? { id, value } : { id, value, changed: effects };
}
