/** Lanes, by which jobs are claimed. */

export const lanesSql = {
  lanesByKey: 'select id, unused_mark is not null as marked from lane where key = ?',
  unmarkLanes: 'update lane set unused_mark = null where id = ?',
  /** Any of them: those that turn out to be used must not be the same each time. */
  markLanes: `update lane set unused_mark = ?2
    where id in (
      select c.id from lane c where not exists (select 1 from live l where l.status = 'pending' and l.lane = c.id)
      order by random() limit ?1)
    returning id, unused_mark as mark`,
  deleteLanes: `delete from lane where id = ?1 and unused_mark = ?2
    and not exists (select 1 from parking p where p.lane = lane.id)`,
  insertLanes: 'insert into lane (key, queue, gang) values (?, ?, ?)',

  // SQLite only: lanes are looked up one by one.
  laneKey: 'select key from lane where id = ?',
  usedLanes: 'select distinct lane from live',
};
