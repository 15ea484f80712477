/** The engine's methods inside a thread. */

import { isRowError } from '../../../core/error.ts';
import { engine } from '../../engine/engine.ts';
import { GraphUpdate } from '../../engine/graph/graph-update.ts';
import { Locks } from '../../engine/graph/locks.ts';
import { sql } from '../../sql/sql.ts';
import { type Mode, type Stages, type Tx, withNext } from '../../sql/tx.ts';
import { insertItems } from '../graph/insert-items.ts';
import { insertLinkedJobs } from '../graph/insert-linked.ts';
import { insertAll } from '../jobs/insert.ts';
import { releaseMeters } from '../jobs/meters.ts';
import { insertCall } from '../jobs/new-job-row.ts';
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
  const { database, lanes, now, effects, graphUpdate, notes } = context;
  const tx: Tx = {
    all: async (columns, statement) => readShared(context, columns, statement),
    async get(columns, statement) {
      const row = database.get<Row>(...rendered(context, statement));
      return row === undefined ? undefined : columns.fromSqlite(row);
    },
    run: async (statement) => database.run(...rendered(context, statement)),
    async runTogether(statements) {
      const [count = 0] = statements.map((statement) => database.run(...rendered(context, statement)));
      return { now, count };
    },
    async writeHeld({ held, matching, writes }) {
      const rows = readShared(context, held, matching);
      if (rows.length === 0) return [];
      const table = held.input(rows);
      for (const write of writes) database.run(...rendered(context, sql`with held as ${table} ${write}`));
      return rows;
    },
    instant: async () => now,
    lockTable: async () => undefined,
    lockRows: async () => undefined,
    async insertJobs(jobs) {
      const { input, decode } = insertCall(jobs, now);
      return decode({ items: insertAll(context, input), replayed: false }).items.map(({ job }) => job);
    },
    insertItems: async (groupId, items) => insertItems(context, groupId, items),
    laneIds: (keys) => keys.map((key) => lanes.idOf(key)),
    async releaseMeters({ limited, returned }) {
      if (limited.length > 0) releaseMeters(context, limited, { returned: false });
      if (returned.length > 0) releaseMeters(context, returned, { returned: true });
    },
    insertLinked: async (jobs) => insertLinkedJobs(context, jobs),
    get fairQueues() {
      return context.fairQueues.names;
    },
    folds: false,
    locks: new Locks({ all: (columns, statement) => tx.all(columns, statement) }),
    effects,
    graphUpdate,
    notes,
  };
  return tx;
}

/** The call is one transaction already, so a transaction of the method is a savepoint. */
function stagesOn(context: Context): Stages {
  const { database, lanes, fairQueues } = context;
  return {
    tx: txOn(context),
    async write(body) {
      database.run('savepoint stage');
      try {
        const own = txOn({ ...context, graphUpdate: new GraphUpdate(context.effects) });
        const answer = await body(own);
        await own.graphUpdate.write(own);
        fairQueues.learn(own.graphUpdate.fairQueues);
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
