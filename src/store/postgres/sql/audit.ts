/** The audit. */

import type { Twins } from '../../statements.ts';
import { instant, nowIn } from './instants.ts';

export function auditSql(s: string) {
  const now = nowIn(s);

  return {
    insertAudit: `with ${now}
      insert into ${s}.audit (at, actor, address, action, path, status, request_id)
      select t.now, i.actor, i.address, i.action, i.path, i.status, i.request_id
      from t, unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[])
        with ordinality i(actor, address, action, path, status, request_id, place)
      order by i.place returning id`,
    endAudit: `update ${s}.audit set status = $2 where id = any($1::bigint[]) and status is null`,
    audit: `select * from ${s}.audit where ($1::text is null or actor = $1) and ($2::text is null or strpos(path, $2) > 0)
        and ($3::float8 is null or at >= ${instant('$3::float8')}) and ($4::float8 is null or at < ${instant('$4::float8')})
        and ($5::bigint is null or id < $5)
      order by id desc limit $6`,
    auditOf: `select * from ${s}.audit where path = any($1::text[]) order by id desc limit $2`,
    pruneAudit: `with ${now}
      delete from ${s}.audit where id = any(array(
        select a.id from ${s}.audit a, t where a.at < t.now - $1::float8 * interval '1 millisecond' order by a.id limit $2))
      returning id`,
  } satisfies Twins<'audit'>;
}
