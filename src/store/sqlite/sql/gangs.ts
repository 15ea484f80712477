/** Places of gangs. */

import type { Twins } from '../../statements.ts';

export const gangsSql = {
  holdMembers: `update live set status = 'blocked', claim_seq = null, renewed_at = null where job_id = ?`,
  noteSuccesses: 'update place set success = ?2 where job_id = ?1',
  leavePlaces: 'delete from place where job_id in (select value from json_each(?))',
} satisfies Twins<'gangs'>;
