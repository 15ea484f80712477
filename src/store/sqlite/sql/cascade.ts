/** Jobs whose ends and reopenings still have to reach their children. */

import type { Twins } from '../../statements.ts';

export const cascadeSql = {
  cascadeHeads: 'select job_id, mode from cascade order by job_id limit ?',
  /** ?1 rows [job, mode]. */
  queueCascade: `insert or replace into cascade (job_id, mode) select value ->> 0, value ->> 1 from json_each(?1)`,
  dropCascade: 'delete from cascade where job_id in (select value from json_each(?))',
} satisfies Twins<'cascade'>;
