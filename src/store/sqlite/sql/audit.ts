/** The audit. */

import type { Twins } from '../../statements.ts';

export const auditSql = {
  insertAudit: `insert into audit (at, actor, address, action, path, status, request_id) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)`,
  endAudit: 'update audit set status = ?2 where id = ?1 and status is null',
  audit: `select * from audit where (?1 is null or actor = ?1) and (?2 is null or instr(path, ?2) > 0)
      and (?3 is null or at >= ?3) and (?4 is null or at < ?4) and (?5 is null or id < ?5)
    order by id desc limit ?6`,
  auditOf: 'select * from audit where path in (select value from json_each(?1)) order by id desc limit ?2',
  pruneAudit: 'delete from audit where id in (select id from audit where at < ?1 order by id limit ?2)',
} satisfies Twins<'audit'>;
