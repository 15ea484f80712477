import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { after, Hands, statuses } from '../../../contract/kit/graph.ts';
import { readOne, submitOne } from '../../../contract/kit/steps.ts';
import { systemClock } from '../../../src/ops/clock.ts';
import { silentLog } from '../../../src/ops/log.ts';
import { openSqlite } from '../../../src/store/sqlite/base/open.ts';
import { aFolder } from '../../kit/sqlite.ts';

const FOUNDATION = new URL('../../../src/store/sqlite/migrations/001_foundation.sql', import.meta.url);

test('sqlite: jobs from before there were dependencies go on, and others can depend on them', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  writeFirstVersion(file);

  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  const { dependsOn, workflowId, status } = await readOne(store, 7);
  assert.deepEqual({ dependsOn, workflowId, status }, { dependsOn: [], workflowId: null, status: 'pending' });
  const child = await submitOne(store, after([{ id: 7 }]));
  const hands = await Hands.of(store);
  await hands.done(7);
  await hands.done(child);
  assert.deepEqual(await statuses(store, [7, child]), ['done', 'done']);
});

/** A database of the first version with one job that waits. */
function writeFirstVersion(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(readFileSync(FOUNDATION, 'utf8'));
  database.exec(`
    update meta set schema_version = 1;
    insert into lane (id, key, queue) values (1, '["default","",[],[]]', 'default');
    insert into job (id, queue, kind, priority, tags, created_at, spec)
      values (7, 'default', '', 0, '[]', 1, '{"command":"true"}');
    insert into live (job_id, status, lane, rank, due) values (7, 'pending', 1, 0, 1);
  `);
  database.close();
}
