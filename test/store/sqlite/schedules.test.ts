/** Schedules on SQLite: what is left of a tick whose commit fails, and what a look at many of them costs. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ledger, makeSchedule, PERIOD, story, tickAll } from '../../../contract/kit/schedules.ts';
import { forever } from '../../../contract/kit/steps.ts';
import { GraphUpdate } from '../../../src/store/engine/graph/graph-update.ts';
import { Changes } from '../../../src/store/hint.ts';
import type { Ticked } from '../../../src/store/schedule-store.ts';
import { Database, type Param } from '../../../src/store/sqlite/base/database.ts';
import { engineMethods } from '../../../src/store/sqlite/base/engine.ts';
import type { SqliteStore } from '../../../src/store/sqlite/base/open.ts';
import { LaneHeads } from '../../../src/store/sqlite/jobs/lane-heads.ts';
import { Lanes } from '../../../src/store/sqlite/jobs/lanes.ts';
import { FairQueues } from '../../../src/store/sqlite/jobs/turns.ts';
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

/** A connection that shows what it is asked. */
class WatchedDatabase extends Database {
  readonly texts: string[] = [];

  override all<Row>(text: string, ...params: Param[]): Row[] {
    this.texts.push(text);
    return super.all(text, ...params);
  }

  override get(text: string, ...params: Param[]) {
    this.texts.push(text);
    return super.get<never>(text, ...params);
  }
}

test('sqlite: a look at schedules and a round of due ticks read by index, however many there are', async () => {
  await using given = await openTestSqlite();
  await makeSchedule(given.store, { name: 'due', overlap: 'cancel_other' });
  await given.advance(PERIOD + 1_000);
  const now = await given.store.now(forever);
  using database = new WatchedDatabase(given.store.location, { readOnly: false });
  const lanes = new Lanes(database);
  const memo = { lanes, heads: new LaneHeads(database, lanes), fairQueues: new FairQueues(database) };
  const effects = new Changes();
  const context = { database, ...memo, now, effects, graphUpdate: new GraphUpdate(effects) };
  database.run('begin immediate');
  const tick = engineMethods('write')['tick'] as (context: unknown, request: unknown) => Promise<Ticked>;
  assert.equal((await tick(context, { limit: 10 })).ticks.length, 1);
  const about = database.texts.filter((text) => /^\s*select\b[^;]*\b(schedule_line|tick)\b/.test(text));
  assert.ok(about.length >= 4, about.join('\n'));
  const plans = about.flatMap((text) =>
    database.all<{ detail: string }>(`explain query plan ${text}`).map(({ detail }) => detail),
  );
  database.run('rollback');
  const scans = plans.filter((detail) => /^SCAN (schedule|schedule_line|tick|live|workflow)\b/.test(detail));
  assert.deepEqual([...new Set(scans)], ['SCAN tick USING INDEX tick_stops'], 'which has only those to be stopped');
});
