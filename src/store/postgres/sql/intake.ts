/** Intake: jobs that applications inserted or completed in their own transactions. */

import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';
import { statusOf } from './standing.ts';

export function intakeSql(s: string) {
  const now = nowIn(s);

  return {
    intake: `select job_id, kind, request from ${s}.intake order by job_id limit $1`,
    takeIntake: `delete from ${s}.intake where job_id = any(array(
        select job_id from ${s}.intake where job_id = $1 for update skip locked))
      returning ${s}.now() as now`,
    /** Gives the job the live row of a new job without parents. The promoter gives it a turn. */
    adoptLive: `with ${now}
      update ${s}.live l
      set lane = $2, flags = l.flags & ~${FLAG.unjudged},
        listed_as = case when l.due > t.now or exists (select 1 from ${s}.fair_queue f where f.name = j.queue) then 'scheduled' else 'pending' end,
        expires_at = greatest(l.due, t.now) + (j.spec ->> 'start_timeout_ms')::float8 * interval '1 ms'
      from t, ${s}.job j where l.job_id = $1 and j.id = l.job_id and l.listed_as = 'blocked' and l.flags & ${FLAG.unjudged} <> 0
      returning l.flags`,

    // PostgreSQL only: functions of the schema write the intake (see migrations).
    standing: `select ${statusOf('l')} as status, due from ${s}.live l where job_id = $1`,
  } satisfies Twins<'intake'>;
}
