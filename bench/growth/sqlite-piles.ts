/** The piles of piles.ts in a SQLite file. */

import { DatabaseSync } from 'node:sqlite';
import { NEVER } from '../../src/core/never.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import { noop } from '../scene.ts';
import { fillSqlite } from '../ui/million.ts';

export type FillSqlite = (file: string, count: number) => Promise<void>;

/** Inserts jobs in the given state, behind the active jobs. Creates `file` if needed. */
function jobsThat(status: 'pending' | 'scheduled' | 'blocked', dueIn: number): FillSqlite {
  return async (file, count) => {
    await makeLane(file);
    const database = new DatabaseSync(file);
    database.exec(`
      pragma synchronous = off;
      begin;
      create temporary table highest as select max(id) as id from job;
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into job (queue, kind, name, priority, tags, created_at, spec)
      select 'default', 'noop', null, -1, '[]', unixepoch() * 1000, '{}' from n;
      insert into live (job_id, status, lane, rank, due)
      select id, '${status}', (select min(id) from lane where queue = 'default'), 1, unixepoch() * 1000 + ${dueIn}
      from job where id > (select id from highest);
      commit;
    `);
    database.close();
  };
}

async function makeLane(file: string): Promise<void> {
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  await store.insert([noop()], {}, NEVER);
}

export const fillPending = jobsThat('pending', 0);
export const fillLater = jobsThat('scheduled', 86_400_000);
export const fillBlocked = jobsThat('blocked', 0);

export const fillEnded: FillSqlite = async (file, count) => {
  await makeLane(file);
  fillSqlite(file, count);
};
