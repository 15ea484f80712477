/** Places of gangs. */

import type { Twins } from '../../statements.ts';

/** True for a gang whose jobs were deleted. */
const isLeft = `not exists (select 1 from job where job.id = gang.job_id)
    and not exists (select 1 from place where place.gang_id = gang.id)`;

export const gangsSql = {
  holdMembers: `update live set status = 'blocked', claim_seq = null, renewed_at = null where job_id = ?`,
  noteSuccesses: 'update place set success = ?2 where job_id = ?1',
  leavePlaces: 'delete from place where job_id in (select value from json_each(?))',
  pruneGangs: `delete from gang where id in (select value from json_each(?)) and ${isLeft}`,

  // SQLite only: the reader finds what the writer deletes.
  leftGangs: `select id from gang where ${isLeft} limit ?`,
} satisfies Twins<'gangs'>;
