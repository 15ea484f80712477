/** The engine's methods inside a thread. */

import { isRowError } from '../../../core/error.ts';
import { engine } from '../../engine/engine.ts';
import { type Mode, type Stages, type Tx, withNext } from '../../sql/tx.ts';
import { GraphUpdate } from '../graph/graph-update.ts';
import { insertAll } from '../jobs/insert.ts';
import { insertCall } from '../jobs/new-job-row.ts';
import { giveTurnsTo } from '../jobs/turns.ts';
import { startRuns } from '../schedules/start-runs.ts';
import type { Context } from './context.ts';
import type { Methods } from './protocol.ts';
import { readShared, rendered } from './shared.ts';
import { toStoreError } from './store-error.ts';

type Row = Record<string, unknown>;

export function engineMethods(...modes: readonly Mode[]): Methods {
  const chosen = Object.entries(withNext(engine)).filter(([, { mode }]) => modes.includes(mode));
  return Object.fromEntries(
    chosen.map(([name, { run, form }]) => [
      name,
      (context: Context, ...args: never[]) =>
        run((form === 'staged' ? stagesOn(context) : txOn(context)) as never, ...args),
    ]),
  );
}

/** A statement blocks, so an await of its answer lets no other call of the thread in between. */
export function txOn(context: Context): Tx {
  const { database, now, effects, notes } = context;
  return {
    all: async (columns, statement) => readShared(context, columns, statement),
    async get(columns, statement) {
      const row = database.get<Row>(...rendered(context, statement));
      return row === undefined ? undefined : columns.fromSqlite(row);
    },
    run: async (statement) => database.run(...rendered(context, statement)),
    async runTogether(statements) {
      for (const statement of statements) database.run(...rendered(context, statement));
    },
    instant: async () => now,
    lockTable: async () => undefined,
    lockRows: async () => undefined,
    async insertJobs(jobs) {
      const { input, decode } = insertCall(jobs, now);
      return decode({ items: insertAll(context, input), replayed: false }).items.map(({ job }) => job);
    },
    async giveTurns(jobIds, names) {
      for (const name of names) context.fairQueues.add(name);
      if (jobIds.length > 0) giveTurnsTo(context, jobIds);
    },
    startRuns: async (wanted) => startRuns(context, wanted),
    folds: false,
    effects,
    notes,
  };
}

/** The call is one transaction already, so a transaction of the method is a savepoint. */
function stagesOn(context: Context): Stages {
  const { database, lanes, fairQueues } = context;
  return {
    tx: txOn(context),
    async write(body) {
      database.run('savepoint stage');
      try {
        const own = { ...context, graphUpdate: new GraphUpdate() };
        const answer = await body(txOn(own));
        own.graphUpdate.write(own);
        database.run('release stage');
        return answer;
      } catch (error) {
        // A full disk may have ended the whole transaction.
        if (!database.inTransaction) throw error;
        database.run('rollback to stage');
        database.run('release stage');
        lanes.forget();
        fairQueues.forget();
        throw error;
      }
    },
    goesOn: () => database.inTransaction,
    isOfRows: (error) => database.inTransaction && isRowError(toStoreError(error, '')),
  };
}
