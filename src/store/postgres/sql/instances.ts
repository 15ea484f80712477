/** Instances and leadership of duties. */

import { SESSION_MARK } from '../base/direct-session.ts';
import { nowIn } from './instants.ts';

/** No term ends this long after now, unless it was renewed before the clock was set back: then its leader may be gone. */
const isOver = `(l.expires_at <= t.now or l.expires_at > t.now + interval '1 minute')`;

/** A duty's row from alias l, and whether its term is over at t. Times are numbers, so that the connection's time zone does not matter. */
const leaderColumns = `l.duty, l.number, l.instance_id, l.term, l.locked, ${isOver} as over,
  round(extract(epoch from l.expires_at) * 1000)::bigint as expires_at`;

/** True if this session has the mark, so it is not one that a pooler shares between clients. */
const ownSession = (mark: string) => `coalesce(current_setting('${SESSION_MARK}', true) = ${mark}, false)`;

export function instancesSql(s: string) {
  const now = nowIn(s);

  return {
    keepDuties: `with ${now}
      update ${s}.leader l set expires_at = t.now + $5::float8 * interval '1 ms', locked = k.locked and ${ownSession('$6')}
      from t, unnest($2::text[], $3::bigint[], $4::boolean[]) k(duty, term, locked)
      where l.duty = k.duty and l.term = k.term and l.instance_id = $1 and l.expires_at > t.now
      returning ${leaderColumns}`,
    /** Skips locked rows: another transaction keeps or takes the duty, or writes as its leader. */
    takeDuties: `with ${now}, free as materialized (
        select l.duty, f.locked from ${s}.leader l
          join unnest($2::text[], $3::bigint[], $4::boolean[]) f(duty, term, locked)
            on f.duty = l.duty and f.term = l.term
          cross join t
        where ${isOver} or (l.locked and f.locked) order by l.duty for update of l skip locked)
      update ${s}.leader l set instance_id = $1, term = l.term + 1, locked = free.locked,
        expires_at = t.now + $5::float8 * interval '1 ms'
      from free, t where l.duty = free.duty returning ${leaderColumns}`,
    resign: `with ${now}
      update ${s}.leader l set expires_at = t.now from t where l.instance_id = $1 and l.expires_at > t.now`,
    duties: `with ${now} select ${leaderColumns} from ${s}.leader l, t where l.term > 0 order by l.duty`,

    // PostgreSQL only: leaders hold session locks, so that others see their end at once; hints go through the server.
    knowDuties: `insert into ${s}.leader (duty, number, instance_id, term, expires_at, locked)
      select d.duty, d.number, '', 0, 'epoch', false from unnest($1::text[], $2::integer[]) d(duty, number)
      on conflict do nothing`,
    /**
     * Reads duties and tries to take their session locks:
     * - a lock that the leader holds: if it is free, the leader's session has ended;
     * - the lock of a duty whose term is over, or that this instance leads without the lock;
     * - never a lock that this session holds already ($3): it would be held twice;
     * - none at all in a session that a pooler shares.
     */
    lookAtDuties: `with ${now}
      select ${leaderColumns}, ${ownSession('$5')} as own_session,
        case when ${ownSession('$5')} and not l.duty = any($3::text[])
            and (l.locked or ${isOver} or l.instance_id = $1)
          then pg_try_advisory_lock($4::integer, l.number) end as got
      from ${s}.leader l, t where l.duty = any($2::text[]) order by l.duty`,
    unlockDuties: 'select pg_advisory_unlock($1::integer, number) from unnest($2::integer[]) d(number)',
    notify: 'select pg_notify($1, $2)',
    notifyWaiters: `select pg_notify($1, $2) where exists (
      select 1 from ${s}.waiter where until > clock_timestamp() and instance_id <> $3)`,
    /** The lock is held by whichever session of the worker's process is alive; two-part keys have objsubid 2. */
    unlockedWorkers: `select w.id, w.seen_at,
        (extract(epoch from pg_postmaster_start_time()) * 1000)::bigint as started_at
      from (select 1) one left join ${s}.worker w on w.attachment = 'direct' and w.state <> 'offline' and not exists (
        select 1 from pg_locks k join pg_database d on d.oid = k.database
        where d.datname = current_database() and k.locktype = 'advisory' and k.granted and k.objsubid = 2
          and k.classid = (select lock_space from ${s}.meta)::oid and k.objid = w.id::oid)`,
  };
}
