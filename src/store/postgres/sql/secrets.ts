/** Sealed secrets. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

export function secretsSql(s: string) {
  return {
    secrets: `select * from ${s}.secret where $1::text[] is null or name = any($1::text[]) order by name collate "C"`,
    putSecret: `with ${nowIn(s)}
      insert into ${s}.secret (name, key_id, sealed, created_at, updated_at) select $1, $2, $3, t.now, t.now from t
      on conflict (name) do update set key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at
      returning *`,
    resealSecret: `update ${s}.secret set key_id = $2, sealed = $3 where name = $1 and sealed = $4 returning name`,
    deleteSecret: `delete from ${s}.secret where name = $1 returning name`,
  } satisfies Twins<'secrets'>;
}
