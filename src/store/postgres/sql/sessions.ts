/** Sessions of the dashboard. */

import type { Twins } from '../../statements.ts';
import { nowIn } from './instants.ts';

export function sessionsSql(s: string) {
  const now = nowIn(s);
  const ms = (value: string) => `${value}::float8 * interval '1 millisecond'`;

  return {
    insertSession: `with ${now}
      insert into ${s}.session (hash, kind, caller, request, created_at, seen_at, expires_at)
      select $1, $2, $3, $4, t.now, t.now, t.now + ${ms('$5')} from t`,
    useSession: `with ${now}
      update ${s}.session x set seen_at = case when x.seen_at + ${ms('$3')} <= t.now then t.now else x.seen_at end from t
      where x.hash = $1 and x.kind = 'session' and x.expires_at > t.now and x.seen_at + ${ms('$2')} > t.now
      returning x.*`,
    takeSession: `with ${now}
      delete from ${s}.session x using t where x.hash = $1 and x.kind = $2 and x.expires_at > t.now returning x.*`,
    pruneSessions: `with ${now}
      delete from ${s}.session x using t
      where x.expires_at <= t.now or (x.kind = 'session' and x.seen_at + ${ms('$1')} <= t.now) returning x.hash`,
  } satisfies Twins<'sessions'>;
}
