import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { fillSqlite } from '../../../bench/ui/million.ts';
import type { JobFilter } from '../../../src/core/job-filter.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import type { Context } from '../../../src/store/sqlite/base/context.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { list } from '../../../src/store/sqlite/reads/list.ts';
import { aFolder } from '../../kit/sqlite.ts';

const JOBS = 5_000;
/** No job is of this worker. */
const NOBODY = 999;

/** Missing in the types of Node. */
type Counted = StatementSync & { stat(counter: 'vmStep'): number };

const opened = new AsyncDisposableStack();
/** The steps of SQLite's machine that a list takes. */
let stepsOf: (filter: JobFilter) => number;

before(async () => {
  const file = join(opened.use(await aFolder()).path, 'workron.db');
  await (await openSqlite({ file, clock: systemClock, log: silentLog }))[Symbol.asyncDispose]();
  fillSqlite(file, JOBS);
  const connection = opened.adopt(new DatabaseSync(file), (open) => open.close());
  stepsOf = (filter) => {
    let steps = 0;
    const run = (sql: string, params: SQLInputValue[]): unknown[] => {
      const statement = connection.prepare(sql) as Counted;
      statement.setReturnArrays(sql.includes('order by'));
      const rows = statement.all(...params);
      steps += statement.stat('vmStep');
      return rows;
    };
    const database = {
      tuples: (sql: string, ...params: SQLInputValue[]) => run(sql, params),
      get: (sql: string, ...params: SQLInputValue[]) => run(sql, params)[0],
    };
    list({ database } as unknown as Context, filter, { before: null, limit: 100 });
    return steps;
  };
});

after(() => opened.disposeAsync());

test('sqlite: a list by worker passes the jobs of other workers without a look at each', () => {
  for (const filter of [{ workerId: NOBODY }, { workerId: NOBODY, statuses: ['done'] as const }]) {
    const steps = stepsOf(filter);
    assert.ok(steps < 6 * JOBS, `${JSON.stringify(filter)} took ${steps} steps`);
  }
});

test('sqlite: a list by reason reads the jobs with that reason only', () => {
  const statuses = ['failed', 'cancelled', 'skipped'] as const;
  for (const filter of [{ reason: 'lost' }, { reason: 'lost', statuses }] as const) {
    const steps = stepsOf(filter);
    assert.ok(steps < 1_000, `${JSON.stringify(filter)} took ${steps} steps`);
  }
});
