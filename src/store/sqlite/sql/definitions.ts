/** Workflow definitions. */

import type { Twins } from '../../statements.ts';
import { schedulesFrom } from './schedules.ts';

export const definitionsSql = {
  insertDefinition:
    'insert into definition (name, version, source, body, created_at) values (?1, ?2, ?3, ?4, ?5) returning *',
  definition: 'select * from definition where name = ?1 and version = ?2',
  latestDefinition: 'select * from definition where name = ?1 order by version desc limit 1',
  definitionNumbers: 'select version from definition where name = ?1',
  definitions: `select * from definition d where name > ?1
      and version = (select max(version) from definition where name = d.name)
    order by name limit ?2`,
  definitionVersions: 'select * from definition where name = ?1 and version < ?2 order by version desc limit ?3',
  deleteDefinition: 'delete from definition where name = ?1',
  schedulesUsing: `select ${schedulesFrom} where json_extract(s.spec, '$.uses.name') = ?1 order by s.name`,
} satisfies Twins<'definitions'>;
