/** Requests that share one commit: each is atomic (a savepoint), and none is answered before the commit. */

import { GraphUpdate } from '../../engine/graph/graph-update.ts';
import { Changes } from '../../hint.ts';
import { requireTerm } from '../cluster/leadership.ts';
import { LaneHeads } from '../jobs/lane-heads.ts';
import { Lanes } from '../jobs/lanes.ts';
import { FairQueues } from '../jobs/turns.ts';
import type { Context } from './context.ts';
import type { Database } from './database.ts';
import { txOn } from './engine.ts';
import { encodeFailure } from './failure.ts';
import type { Methods, ThreadAnswer, ThreadRequest } from './protocol.ts';
import { isBusy, toStoreError } from './store-error.ts';

export interface Served {
  database: Database;
  file: string;
  methods: Methods;
  /** The statement that begins a transaction; `null` if these requests only read, and nobody writes meanwhile. */
  begin: 'begin' | 'begin immediate' | null;
}

type Method = (context: Context, ...args: readonly unknown[]) => unknown;

/** The caches that are kept between calls. */
type Memo = Pick<Context, 'lanes' | 'heads' | 'fairQueues' | 'notes'>;

/** Returns a function that carries out a group of requests. It is to be called again only when it has answered. */
export function groupsOn(served: Served): (group: readonly ThreadRequest[]) => Promise<ThreadAnswer[]> {
  const { database } = served;
  const lanes = new Lanes(database);
  const memo: Memo = {
    lanes,
    heads: new LaneHeads(database, lanes),
    fairQueues: new FairQueues(database),
    notes: new Map(),
  };
  return (group) => answer(served, memo, group);
}

async function answer(served: Served, memo: Memo, group: readonly ThreadRequest[]): Promise<ThreadAnswer[]> {
  try {
    return await commitTogether(served, memo, group);
  } catch (error) {
    if (served.database.inTransaction) served.database.run('rollback');
    forget(memo);
    // One request may have failed the others: each gets its own transaction. After a lock time-out that would not help.
    if (group.length > 1 && !isBusy(error)) {
      const answers: ThreadAnswer[] = [];
      for (const request of group) answers.push(...(await answer(served, memo, [request])));
      return answers;
    }
    const failure = encodeFailure(toStoreError(error, served.file));
    return group.map(({ id }) => ({ id, failure }));
  }
}

async function commitTogether(served: Served, memo: Memo, group: readonly ThreadRequest[]): Promise<ThreadAnswer[]> {
  const { database } = served;
  const performOne = group.length === 1 ? perform : performInSavepoint;
  const answers: ThreadAnswer[] = [];
  if (served.begin !== null) database.run(served.begin);
  for (const request of group) answers.push(await performOne(served, memo, request));
  if (served.begin !== null) database.run('commit');
  return answers;
}

async function performInSavepoint(served: Served, memo: Memo, request: ThreadRequest): Promise<ThreadAnswer> {
  const { database } = served;
  database.run('savepoint request');
  try {
    const done = await perform(served, memo, request);
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

async function perform(
  { database, methods }: Served,
  memo: Memo,
  { id, method, now, args, fence }: ThreadRequest,
): Promise<ThreadAnswer> {
  const effects = new Changes();
  const context = { database, ...memo, now, effects, graphUpdate: new GraphUpdate(effects) };
  if (fence !== undefined) requireTerm(context, fence);
  const value = await (methods[method] as Method | undefined)?.(context, ...args);
  if (!context.graphUpdate.isEmpty) await context.graphUpdate.write(txOn(context));
  memo.fairQueues.learn(context.graphUpdate.fairQueues);
  if (effects.reordered) memo.heads.forget();
  if (effects.endedAttempts.length > 0) effects.madeRoom();
  return effects.isEmpty ? { id, value } : { id, value, changed: effects.toMessage() };
}
