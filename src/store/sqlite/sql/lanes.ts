/** Lanes: what jobs are claimed by. */

import type { Twins } from '../../statements.ts';

export const lanesSql = {
  lanesByKey: 'select id from lane where key = ?',
  insertLanes: 'insert into lane (key, queue) values (?, ?)',

  // Only here: lanes are looked up one by one.
  laneKey: 'select key from lane where id = ?',
} satisfies Twins<'lanes'>;
