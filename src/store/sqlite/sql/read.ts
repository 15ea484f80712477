/** Reading jobs. */

import { MAX_LISTED_LENGTH, MAX_LISTED_PARENTS } from '../../../core/job-filter.ts';
import { FLAG } from '../../flags.ts';
import type { Twins } from '../../statements.ts';

/** The columns that a list cuts. */
interface Cuttable {
  spec: string;
  error: string;
  thrown: string;
  result: string;
  /** The parents of the job, from the alias e (edge). */
  edges: string;
  /** The names of the fields that are cut, with commas. */
  cut: string;
}

const whole: Cuttable = {
  spec: 'j.spec',
  error: 'r.error',
  thrown: 'r.thrown',
  result: 'x.value',
  edges: 'edge e where e.child_id = j.id',
  cut: 'null',
};

const inSpec = (key: string) => `j.spec ->> '$.${key}'`;
const isLong = (text: string) => `length(${text}) > ${MAX_LISTED_LENGTH}`;
const unlessLong = (text: string) => `iif(${isLong(text)}, null, ${text})`;
/** Keys of the stored spec that are left out if they are long. An item's value and a sealed input are not shown with the job. */
const OMITTED = ['input', 'env', 'notify', 'item', 'sealed_input'];

/** `->>` of an array or object is its JSON text. A path that does not exist is ignored. */
const short: Cuttable = {
  spec: `iif(${isLong('j.spec')}, json_replace(
    json_remove(j.spec, ${OMITTED.map((key) => `iif(${isLong(inSpec(key))}, '$.${key}', '$.none')`).join(', ')}),
    '$.command', substr(${inSpec('command')}, 1, ${MAX_LISTED_LENGTH})), j.spec)`,
  error: `substr(r.error, 1, ${MAX_LISTED_LENGTH})`,
  thrown: unlessLong('r.thrown'),
  result: unlessLong('x.value'),
  edges: `(select parent_id, condition from edge where child_id = j.id order by parent_id limit ${MAX_LISTED_PARENTS + 1}) e`,
  cut: `concat_ws(',', iif(${isLong('j.spec')}, concat_ws(',', ${['command', 'input', 'env', 'notify']
    .map((key) => `iif(${isLong(inSpec(key))}, '${key}', null)`)
    .join(', ')}), null), ${[
    ['error', 'r.error'],
    ['thrown', 'r.thrown'],
    ['result', 'x.value'],
  ]
    .map(([name, text = '']) => `iif(${isLong(text)}, '${name}', null)`)
    .join(', ')})`,
};

/** A job as `decodeJob` takes it, from the aliases j (job), l (live), r (run), w (worker), x (result). */
const jobColumns = ({ spec, error, thrown, result, edges, cut }: Cuttable) => `
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, ${spec}, j.created_at,
  coalesce(l.status, r.status), coalesce(l.attempt, r.attempts), coalesce(l.failures, r.failures),
  coalesce(l.interruptions, r.interruptions), coalesce(l.snoozes, r.snoozes), coalesce(l.losses, r.losses),
  coalesce(l.due, r.due), iif(l.job_id is null, r.started_at, l.started_at), iif(l.job_id is null, r.ended_at, null),
  iif(l.job_id is null, r.worker_id, l.worker_id), coalesce(l.renewed_at, w.seen_at),
  iif(l.job_id is null, r.cancel_requested_at, l.cancel_requested_at), coalesce(l.flags & ${FLAG.gangStop}, 0),
  iif(l.status <> 'running', l.expires_at, null),
  r.exit_code, r.signal, ${error}, ${thrown}, r.reason, ${result},
  (select json_array(p.attempt, p.fraction, p.note, p.checkpoint_kind, p.checkpoint_bytes, p.checkpoint_attempt, p.checkpoint_at)
    from progress p where p.job_id = j.id),
  (select json_group_array(json_array(e.parent_id, e.condition)) from ${edges}),
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of, ${cut}`;

export const listedColumns = jobColumns(short);
export const wholeColumns = jobColumns(whole);

/** The run row shown with a job: for an unfinished job the last attempt with an error, for an ended one the row that ended it. */
const lastRun = `
  left join run r on r.job_id = j.id and r.attempt = (
    select e.attempt from run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1)`;
const heard = `left join worker w on w.id = l.worker_id and l.status = 'running'`;

const besides = `${lastRun} ${heard} left join result x on x.job_id = j.id`;

/** The tables of each search. `cross join` fixes the join order; `indexed by` forces the partial index. */
export const jobsFrom = {
  all: `job j left join live l on l.job_id = j.id ${besides}`,
  waiting: `live l cross join job j on j.id = l.job_id ${besides}`,
  running: `live l indexed by live_running cross join job j on j.id = l.job_id ${besides}`,
  ended: `run r cross join job j on j.id = r.job_id left join live l on l.job_id = j.id ${heard}
    left join result x on x.job_id = j.id`,
  attempted: `run a cross join job j on j.id = a.job_id left join live l on l.job_id = j.id ${besides}`,
};

export const readSql = {
  jobs: `select ${wholeColumns} from ${jobsFrom.all} where j.id in (select value from json_each(?))`,
  newestJobId: 'select coalesce(max(id), 0) as id from job',
  /** An offline worker may have claimed until its lease ended, without a later heartbeat. */
  workerGone: `select seen_at + lease_ms as at from worker where id = ? and state = 'offline'`,
  attempts: `select job_id, attempt, worker_id, started_at, ended_at, outcome, exit_code, signal, error, thrown, cpu_ms, max_rss
    from run
    where job_id = ? and attempt > 0 order by attempt`,
  countAhead: `select count(*) as count from (
    select 1 from live l where l.status = 'pending' and l.lane in (select value from json_each(?1))
      and (l.rank, l.turn, l.due, l.job_id) < (?2, ?3, ?4, ?5) limit ?6)`,
  /** ?7 now. */
  meteredAhead: `select j.spec ->> 'limits' as limits, j.spec ->> 'rates' as rates from live l join job j on j.id = l.job_id
    where l.status = 'pending' and l.lane in (select value from json_each(?1) union all
        select -p.id from parking p where p.lane in (select value from json_each(?1)) and p.opens_at <= ?7 and not p.skips)
      and (l.rank, l.turn, l.due, l.job_id) < (?2, ?3, ?4, ?5) order by l.rank, l.turn, l.due, l.job_id limit ?6`,

  // SQLite only: parameters of other statements.
  /** The last job above ?1, up to ?2. */
  jobUpTo: 'select id, created_at from job where id > ?1 and id <= ?2 order by id desc limit 1',
  queueLanes: 'select id from lane where queue = ?',
} satisfies Twins<'read'>;
