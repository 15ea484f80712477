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
import { findOld } from '../../../src/store/sqlite/cluster/prune.ts';
import { list } from '../../../src/store/sqlite/reads/list.ts';
import { aFolder } from '../../kit/sqlite.ts';

const JOBS = 5_000;
/** No job is of this worker. */
const NOBODY = 999;

/** Missing in the types of Node. */
type Counted = StatementSync & { stat(counter: 'vmStep'): number };

const opened = new AsyncDisposableStack();
/** The steps of SQLite's machine that a read takes. */
let stepsOf: (read: (context: Context) => void) => number;

function listed(filter: JobFilter): number {
  return stepsOf((context) => list(context, filter, { before: null, limit: 100 }));
}

before(async () => {
  const file = join(opened.use(await aFolder()).path, 'workron.db');
  await (await openSqlite({ file, clock: systemClock, log: silentLog }))[Symbol.asyncDispose]();
  fillSqlite(file, JOBS);
  const connection = opened.adopt(new DatabaseSync(file), (open) => open.close());
  stepsOf = (read) => {
    let steps = 0;
    const run = (sql: string, params: SQLInputValue[], asArrays: boolean): unknown[] => {
      const statement = connection.prepare(sql) as Counted;
      statement.setReturnArrays(asArrays);
      const rows = statement.all(...params);
      steps += statement.stat('vmStep');
      return rows;
    };
    const database = {
      tuples: (sql: string, ...params: SQLInputValue[]) => run(sql, params, true),
      get: (sql: string, ...params: SQLInputValue[]) => run(sql, params, false)[0],
    };
    read({ database, now: Date.now() } as unknown as Context);
    return steps;
  };
});

after(() => opened.disposeAsync());

test('sqlite: a list by worker passes the jobs of other workers without a look at each', () => {
  for (const filter of [{ workerId: NOBODY }, { workerId: NOBODY, statuses: ['done'] as const }]) {
    const steps = listed(filter);
    assert.ok(steps < 6 * JOBS, `${JSON.stringify(filter)} took ${steps} steps`);
  }
});

test('sqlite: a list by reason reads the jobs with that reason only', () => {
  const statuses = ['failed', 'cancelled', 'skipped'] as const;
  for (const filter of [{ reason: 'lost' }, { reason: 'lost', statuses }] as const) {
    const steps = listed(filter);
    assert.ok(steps < 1_000, `${JSON.stringify(filter)} took ${steps} steps`);
  }
});

test('sqlite: a search for old jobs passes the younger ones without a look at each', () => {
  const DAY_MS = 86_400_000;
  const [doneMs, otherMs] = [7 * DAY_MS, 30 * DAY_MS];
  const steps = stepsOf((context) => {
    assert.deepEqual(findOld(context, { doneMs, otherMs, statsMs: otherMs }, 500).jobs, []);
  });
  assert.ok(steps < 1_000, `it took ${steps} steps`);
  const found = (keepMs: number) => {
    let jobs: number[] = [];
    stepsOf((context) => {
      ({ jobs } = findOld(context, { doneMs: keepMs, otherMs, statsMs: otherMs }, 500));
    });
    return jobs;
  };
  // The jobs are four days old at most, and nine of the first ten are done.
  assert.deepEqual(found(3 * DAY_MS).slice(0, 9), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal(found(3 * DAY_MS).length, 500);
});
