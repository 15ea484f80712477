import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { fillSqlite } from '../../../bench/ui/million.ts';
import type { JobFilter, ListedJob } from '../../../src/core/job-filter.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import type { Retention } from '../../../src/store/duty-store.ts';
import type { Context } from '../../../src/store/sqlite/base/context.ts';
import { engineMethods } from '../../../src/store/sqlite/base/engine.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { aFolder } from '../../kit/sqlite.ts';

const JOBS = 5_000;
/** No job is of this worker. */
const NOBODY = 999;

/** Missing in the types of Node. */
type Counted = StatementSync & { stat(counter: 'vmStep'): number };

type List = (
  context: Context,
  ...args: [filter: JobFilter, page: { before: null; limit: number }]
) => Promise<ListedJob[]>;

const opened = new AsyncDisposableStack();
/** The steps of SQLite's machine that a read takes. */
let stepsOf: (read: (context: Context) => unknown) => Promise<number>;

function listed(filter: JobFilter): Promise<number> {
  return stepsOf((context) => (engineMethods('read')['list'] as List)(context, filter, { before: null, limit: 100 }));
}

before(async () => {
  const file = join(opened.use(await aFolder()).path, 'workron.db');
  await (await openSqlite({ file, clock: systemClock, log: silentLog }))[Symbol.asyncDispose]();
  fillSqlite(file, JOBS);
  const connection = opened.adopt(new DatabaseSync(file), (open) => open.close());
  stepsOf = async (read) => {
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
      all: (sql: string, ...params: SQLInputValue[]) => run(sql, params, false),
      get: (sql: string, ...params: SQLInputValue[]) => run(sql, params, false)[0],
    };
    await read({ database, now: Date.now(), notes: new Map() } as unknown as Context);
    return steps;
  };
});

after(() => opened.disposeAsync());

test('sqlite: a list by worker passes the jobs of other workers without a look at each', async () => {
  for (const filter of [{ workerId: NOBODY }, { workerId: NOBODY, statuses: ['done'] as const }]) {
    const steps = await listed(filter);
    assert.ok(steps < 6 * JOBS, `${JSON.stringify(filter)} took ${steps} steps`);
  }
});

test('sqlite: a list by reason reads the jobs with that reason only', async () => {
  const statuses = ['failed', 'cancelled', 'skipped'] as const;
  for (const filter of [{ reason: 'lost' }, { reason: 'lost', statuses }] as const) {
    const steps = await listed(filter);
    assert.ok(steps < 1_000, `${JSON.stringify(filter)} took ${steps} steps`);
  }
});

test('sqlite: a search for old jobs passes the younger ones without a look at each', async () => {
  const DAY_MS = 86_400_000;
  const [doneMs, otherMs] = [7 * DAY_MS, 30 * DAY_MS];
  const find = engineMethods('read')['prune'] as (
    context: Context,
    ...args: [retention: Retention, limit: number]
  ) => Promise<{ jobs: number[][] }>;
  const steps = await stepsOf(async (context) => {
    assert.deepEqual((await find(context, { doneMs, otherMs, statsMs: otherMs }, 500)).jobs.flat(), []);
  });
  assert.ok(steps < 1_000, `it took ${steps} steps`);
  const found = async (keepMs: number) => {
    let jobs: number[] = [];
    await stepsOf(async (context) => {
      jobs = (await find(context, { doneMs: keepMs, otherMs, statsMs: otherMs }, 500)).jobs.flat();
    });
    return jobs;
  };
  // The jobs are four days old at most, and nine of the first ten are done.
  assert.deepEqual((await found(3 * DAY_MS)).slice(0, 9), [2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert.equal((await found(3 * DAY_MS)).length, 500);
});
