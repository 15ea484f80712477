/**
 * Workflow definitions. Storing or deleting one locks the table, before any schedule is locked. So does letting a schedule use
 * one, in a mode that several transactions can hold. Reads go on.
 */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';
import { schedulesFrom } from './schedules.ts';

export function definitionsSql(s: string) {
  const now = nowIn(s);

  return {
    insertDefinition: `with ${now} insert into ${s}.definition (name, version, source, body, created_at)
      select $1, $2, $3, $4, t.now from t returning *`,
    definition: `select * from ${s}.definition where name = $1 and version = $2`,
    latestDefinition: `select * from ${s}.definition where name = $1 order by version desc limit 1`,
    definitionNumbers: `select version from ${s}.definition where name = $1`,
    definitions: `select * from ${s}.definition d where name > $1
        and version = (select max(version) from ${s}.definition where name = d.name)
      order by name limit $2::bigint`,
    definitionVersions: `select * from ${s}.definition where name = $1 and version < $2 order by version desc limit $3::bigint`,
    deleteDefinition: `delete from ${s}.definition where name = $1 returning version`,
    schedulesUsing: `select ${schedulesFrom(s)} where s.spec -> 'uses' ->> 'name' = $1 order by s.name`,

    // PostgreSQL only: the locks.
    lockDefinitions: `lock table ${s}.definition in share row exclusive mode`,
    holdDefinitions: `lock table ${s}.definition in share mode`,
    lockSchedulesUsing: `select id from ${s}.schedule where spec -> 'uses' ->> 'name' = $1 order by id for update`,
  } satisfies Twins<'definitions'>;
}
