/** Schedules on SQLite: what is left of a tick whose commit fails, and what a look at many of them costs. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ledger, makeSchedule, PERIOD, story, tickAll } from '../../../contract/kit/schedules.ts';
import { forever } from '../../../contract/kit/steps.ts';
import type { SqliteStore } from '../../../src/store/sqlite/base/open.ts';
import { sql } from '../../../src/store/sqlite/base/sql.ts';
import { openTestSqlite } from '../../kit/sqlite.ts';

/** Another connection to the same file, as a person with a shell has it. */
function beside<T>({ location }: SqliteStore, work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(location, { timeout: 5_000 });
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function countJobs(store: SqliteStore): unknown {
  return beside(store, (database) => database.prepare('select count(*) as count from job').get()?.['count']);
}

test('sqlite: a tick whose last write fails leaves nothing half', async () => {
  await using given = await openTestSqlite();
  const { store } = given;
  const made = await makeSchedule(store);
  await given.advance(PERIOD + 1_000);
  beside(store, (database) =>
    database.exec(`create trigger broken before update on schedule_line begin select raise(abort, 'broken'); end`),
  );
  await assert.rejects(store.tick({ limit: 10 }, forever), /broken/);
  assert.deepEqual(await ledger(store, 'nightly'), []);
  assert.equal(countJobs(store), 0);
  assert.equal((await store.schedule('nightly', forever))?.lastVerdict, null);
  beside(store, (database) => database.exec('drop trigger broken'));
  await tickAll(store);
  assert.deepEqual(await story(store, made), ['ran 1']);
  assert.equal(countJobs(store), 1);
});

test('sqlite: a tick that has a row is not run again, even if the line has forgotten it', async () => {
  await using given = await openTestSqlite();
  const { store } = given;
  const made = await makeSchedule(store, { overlap: 'allow' });
  await given.advance(PERIOD + 1_000);
  await tickAll(store);
  beside(store, (database) =>
    database.exec(`update schedule_line set next_due = cursor, cursor = cursor - ${PERIOD}, tail_id = null`),
  );
  await assert.rejects(store.tick({ limit: 10 }, forever), /UNIQUE constraint failed: tick/);
  assert.deepEqual(await story(store, made), ['ran 1']);
  assert.equal(countJobs(store), 1);
});

test('sqlite: a look at schedules that are not due reads the end of an index, however many there are', async () => {
  await using given = await openTestSqlite();
  for (const [statement, expected] of [
    [sql.lookDue, /^SEARCH schedule_line USING COVERING INDEX schedule_line_due/],
    [sql.dueLines, /^SEARCH schedule_line USING INDEX schedule_line_due \(next_due<\?\)$/],
    [sql.stops, /^SCAN tick USING INDEX tick_stops$/],
  ] as const) {
    const plan = beside(given.store, (database) => {
      const explained = database.prepare(`explain query plan ${statement}`);
      const values = statement === sql.dueLines ? [0, 1_000] : [];
      return explained.all(...values).map(({ detail }) => String(detail));
    });
    assert.equal(plan.length, 1, plan.join('; '));
    assert.match(plan[0] ?? '', expected);
  }
});
