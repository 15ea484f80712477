/** Instances and leadership of duties. */

export const instancesSql = {
  keepDuties: `update leader set expires_at = ?4
    where duty = ?1 and instance_id = ?2 and term = ?3 and expires_at > ?5`,
  takeDuties: `insert into leader (duty, number, instance_id, term, expires_at, locked) values (?1, ?2, ?3, 1, ?4, 0)
    on conflict (duty) do update
    set instance_id = excluded.instance_id, term = leader.term + 1, expires_at = excluded.expires_at
    where leader.expires_at <= ?5`,
  resign: 'update leader set expires_at = ?2 where instance_id = ?1 and expires_at > ?2',
  duties: 'select * from leader order by duty',

  // SQLite only: one process owns the file.
  /** The owner of the file is the only process, so earlier leaders have ended. */
  endTerms: 'update leader set expires_at = 0',
  duty: 'select * from leader where duty = ?',
};
