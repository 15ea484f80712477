/** Sealed secrets. */

import type { Twins } from '../../statements.ts';

export const secretsSql = {
  secrets: 'select * from secret where ?1 is null or name in (select value from json_each(?1)) order by name',
  putSecret: `insert into secret (name, key_id, sealed, created_at, updated_at) values (?1, ?2, ?3, ?4, ?4)
    on conflict (name) do update set key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at
    returning *`,
  resealSecret: 'update secret set key_id = ?2, sealed = ?3 where name = ?1 and sealed = ?4',
  deleteSecret: 'delete from secret where name = ?1',
} satisfies Twins<'secrets'>;
