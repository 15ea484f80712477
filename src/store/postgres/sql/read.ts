/** Reading jobs. */

import { MAX_LISTED_LENGTH, MAX_LISTED_PARENTS } from '../../../core/job-filter.ts';
import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';
import { order } from './claim.ts';
import { nowIn } from './instants.ts';
import { isPending, statusOf } from './standing.ts';

/** The columns that a list cuts. */
interface Cuttable {
  spec: string;
  error: string;
  thrown: string;
  result: string;
  /** The names of the fields that are cut. */
  cut: string;
}

const whole: Cuttable = { spec: 'j.spec', error: 'r.error', thrown: 'r.thrown', result: 'x.value', cut: 'null' };

const isLong = (text: string) => `length(${text}) > ${MAX_LISTED_LENGTH}`;
const unlessLong = (json: string) => `case when ${isLong(`${json}::text`)} then null else ${json} end`;
const namesOf = (long: readonly (readonly [name: string, text: string])[]) =>
  `array_remove(array[${long.map(([name, text]) => `case when ${isLong(text)} then '${name}' end`).join(', ')}], null)`;
/** Keys of the stored spec. An item's value and a sealed input are not shown with the job. */
const HIDDEN = ['item', 'sealed_input'];
const inSpec = ['command', 'input', 'env', 'notify', ...HIDDEN].map((key) => [key, `(j.spec ->> '${key}')`] as const);

const short: Cuttable = {
  spec: `case when ${inSpec.map(([, text]) => isLong(text)).join(' or ')} then (j.spec - ${namesOf(inSpec)})
      || case when j.spec ? 'command' then jsonb_build_object('command', left(j.spec ->> 'command', ${MAX_LISTED_LENGTH})) else '{}' end
    else j.spec end as spec`,
  error: `left(r.error, ${MAX_LISTED_LENGTH}) as error`,
  thrown: `${unlessLong('r.thrown')} as thrown`,
  result: unlessLong('x.value'),
  cut: namesOf([
    ...inSpec.filter(([key]) => !HIDDEN.includes(key)),
    ['error', 'r.error'],
    ['thrown', 'r.thrown::text'],
    ['result', 'x.value::text'],
  ]),
};

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
const jobColumns = ({ spec, error, thrown, result, cut }: Cuttable) => `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, ${spec}, j.created_at,
  coalesce(${statusOf('l')}, r.status) as status, coalesce(l.attempt, r.attempts) as attempt,
  coalesce(l.failures, r.failures, 0) as failures, coalesce(l.interruptions, r.interruptions, 0) as interruptions,
  coalesce(l.snoozes, r.snoozes, 0) as snoozes, coalesce(l.losses, r.losses, 0) as losses, coalesce(l.due, r.due) as due,
  case when l.job_id is null then r.started_at else l.started_at end as started_at,
  case when l.job_id is null then r.ended_at end as done_at,
  case when l.job_id is null then r.worker_id else l.worker_id end as worker_id,
  case when ${statusOf('l')} = 'running' then coalesce(l.renewed_at, w.seen_at) end as heard_at,
  case when l.job_id is null then r.cancel_requested_at else l.cancel_requested_at end as cancel_requested_at, coalesce(l.flags & ${FLAG.gangStop} <> 0, false) as gang_stop,
  case when ${statusOf('l')} <> 'running' then l.expires_at end as expires_at, r.exit_code, r.signal, ${error}, ${thrown}, r.reason, ${result} as result,
  p.attempt as progress_attempt, p.fraction, p.note,
  p.checkpoint_kind, p.checkpoint_bytes, p.checkpoint_attempt, p.checkpoint_at,
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of, n.depends_on, ${cut} as cut`;

/** The columns and tables of jobs that are read whole. */
function jobsFrom(s: string): string {
  return `${jobColumns(whole)} from ${jobTables(s, `${s}.edge e where e.child_id = j.id`)}`;
}

/** The columns and tables of jobs in lists, whose long fields are cut. */
export function listedJobsFrom(s: string): string {
  const edges = `(select * from ${s}.edge where child_id = j.id order by parent_id limit ${MAX_LISTED_PARENTS + 1}) e`;
  return `${jobColumns(short)} from ${jobTables(s, edges)}`;
}

function jobTables(s: string, edges: string): string {
  return `${s}.job j left join ${s}.live l on l.job_id = j.id ${lastRun(s)}
    left join ${s}.worker w on w.id = l.worker_id left join ${s}.result x on x.job_id = j.id
    left join ${s}.progress p on p.job_id = j.id
    left join lateral (
      select json_agg(json_build_array(e.parent_id, e.condition) order by e.parent_id) as depends_on
      from ${edges}) n on true`;
}

/** The run row shown with a job: for an unfinished job the last attempt with an error, for an ended one the row that ended it. */
export function lastRun(s: string): string {
  return `left join lateral (
    select * from ${s}.run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1) r on true`;
}

/** Selects the `id` of the last job that was created before an instant, by bisection; 0 if there is none. */
export function lastJobBefore(s: string, instant: string): string {
  return `with recursive found(low, high) as (
        select 0::bigint, coalesce(max(id), 0) + 1 from ${s}.job
        union all
        select case when p.is_later then f.low else f.middle end, case when p.is_later then p.id else f.high end
        from (select low, high, (low + high) / 2 as middle from found where high - low > 1) f left join lateral (
          select j.id, j.created_at >= ${instant} as is_later from ${s}.job j
          where j.id > f.low and j.id <= f.middle order by j.id desc limit 1) p on true)
      select max(low) as id from found`;
}

export function readSql(s: string) {
  const now = nowIn(s);
  return {
    jobs: `select ${jobsFrom(s)} where j.id = any($1::bigint[])`,
    newestJobId: `select max(id) as id from ${s}.job`,
    /** An offline worker may have claimed until its lease ended, without a later heartbeat. */
    workerGone: `select extract(epoch from seen_at)::float8 * 1000 + lease_ms as at from ${s}.worker
      where id = $1 and state = 'offline'`,
    attempts: `select job_id, attempt, worker_id, coalesce(started_at, ended_at) as started_at, ended_at, outcome, exit_code, signal, error, thrown,
      cpu_ms, max_rss from ${s}.run where job_id = $1 and attempt > 0 order by attempt`,
    countAhead: `select count(*) as count from (
      select 1 from ${s}.live me, unnest($2::integer[]) u(lane) cross join lateral (
        select 1 from ${s}.live l where ${isPending('l')} and l.lane = u.lane
          and (${order}) < (me.rank, me.turn, me.due, me.job_id) limit $3) ahead
      where me.job_id = $1 and ${isPending('me')} limit $3) counted`,
    meteredAhead: `with ${now}, lanes as (
        select u.lane from unnest($2::integer[]) u(lane) union all
        select -p.id from ${s}.parking p, t where p.lane = any($2::integer[]) and p.opens_at <= t.now and not p.skips)
      select j.spec -> 'limits' as limits, j.spec -> 'rates' as rates
      from ${s}.live me, lanes u cross join lateral (
        select ${order} from ${s}.live l where ${isPending('l')} and l.lane = u.lane
          and (${order}) < (me.rank, me.turn, me.due, me.job_id) order by ${order} limit $3) l join ${s}.job j on j.id = l.job_id
      where me.job_id = $1 and ${isPending('me')} order by ${order} limit $3`,

    // PostgreSQL only: the bisection runs in the server.
    /** $1 an instant. */
    lastJobBefore: lastJobBefore(s, 'to_timestamp($1::float8 / 1000.0)'),
  } satisfies Twins<'read'>;
}
