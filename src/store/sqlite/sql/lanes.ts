/** Lanes, by which jobs are claimed. */

import type { Twins } from '../../statements.ts';

export const lanesSql = {
  lanesByKey: 'select id from lane where key = ?',
  insertLanes: 'insert into lane (key, queue) values (?, ?)',

  // SQLite only: lanes are looked up one by one.
  laneKey: 'select key from lane where id = ?',
} satisfies Twins<'lanes'>;
