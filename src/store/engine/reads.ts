/** Reads jobs: their columns, the tables they come from, and their decoding. A list cuts long fields before they are read. */

import type { Attempt } from '../../core/attempt-end.ts';
import type { CheckpointKind } from '../../core/checkpoint.ts';
import type { Condition } from '../../core/dag/conditions.ts';
import type { DurableState } from '../../core/durable.ts';
import type { Job, JobSpec } from '../../core/job.ts';
import {
  type CutField,
  type ListedJob,
  listedJob,
  MAX_LISTED_LENGTH,
  MAX_LISTED_PARENTS,
} from '../../core/job-filter.ts';
import type { Usage } from '../../core/outcome.ts';
import { FLAG } from '../flags.ts';
import { decodeSpec, type SpecColumns, uniqueKeyOf } from '../spec.ts';
import { columns } from '../sql/columns.ts';
import {
  anyOf,
  type Dialect,
  type Fragment,
  join,
  msOf,
  type Part,
  raw,
  type Spelling,
  spelled,
  sql,
} from '../sql/sql.ts';
import { one, type Tx } from '../sql/tx.ts';
import { statusOf } from './standing.ts';

type State = Omit<Job, keyof JobSpec | 'progress' | 'checkpoint' | 'dependsOn' | 'uniqueKey' | 'durable'>;

interface JobRow extends State, SpecColumns {
  /** The attempt that reported it. */
  progressAttempt: number | null;
  fraction: number | null;
  note: string | null;
  checkpointKind: CheckpointKind | null;
  checkpointBytes: number;
  checkpointAttempt: number;
  checkpointAt: number;
  /** Parents with their conditions, by id. */
  dependsOn: readonly [number, Condition][] | null;
  /** `null` for a job without steps. */
  durable: DurableState | null;
  /** What a list has cut; `null` for a job that is whole. */
  cut: readonly (CutField | null)[] | null;
}

export const jobRow = columns<JobRow>({
  id: 'bigint',
  queue: 'text',
  kind: 'text',
  name: 'text',
  priority: 'int',
  tags: 'json',
  spec: 'json',
  createdAt: 'instant',
  status: 'text',
  attempt: 'int',
  failures: 'int',
  interruptions: 'int',
  snoozes: 'int',
  losses: 'int',
  dueAt: 'instant',
  startedAt: 'instant',
  doneAt: 'instant',
  workerId: 'int',
  lastHeartbeatAt: 'instant',
  cancelRequestedAt: 'instant',
  gangStop: 'bool',
  expiresAt: 'instant',
  exitCode: 'int',
  signal: 'text',
  error: 'text',
  thrown: 'json',
  reason: 'text',
  result: 'json',
  progressAttempt: 'int',
  fraction: 'real',
  note: 'text',
  checkpointKind: 'text',
  checkpointBytes: 'bigint',
  checkpointAttempt: 'int',
  checkpointAt: 'instant',
  dependsOn: 'json',
  workflowId: 'bigint',
  stepKey: 'text',
  groupId: 'bigint',
  groupIndex: 'int',
  rerunOf: 'bigint',
  durable: 'json',
  cut: 'json',
});

export function jobFrom(row: JobRow): Job {
  const { queue, kind, name, priority, tags, spec, progressAttempt, fraction, note, dependsOn, ...rest } = row;
  const { checkpointKind, checkpointBytes, checkpointAttempt, checkpointAt, durable, cut: _, ...state } = rest;
  return {
    ...decodeSpec({ queue, kind, name, priority, tags, spec }),
    ...state,
    progress: progressAttempt !== state.attempt || fraction === null ? null : { fraction, text: note },
    checkpoint:
      checkpointKind === null
        ? null
        : { kind: checkpointKind, bytes: checkpointBytes, attempt: checkpointAttempt, writtenAt: checkpointAt },
    dependsOn: (dependsOn ?? []).map(([jobId, condition]) => ({ jobId, condition })),
    uniqueKey: uniqueKeyOf(spec),
    ...(durable !== null && { durable }),
  };
}

export function listedJobFrom(row: JobRow): ListedJob {
  return listedJob(
    jobFrom(row),
    (row.cut ?? []).filter((field) => field !== null),
  );
}

/** Jobs by id, in any order. */
export function jobsById(ids: readonly number[]): Fragment {
  return sql`select ${wholeJobs} where j.id ${anyOf(ids)}`;
}

/** Returns the jobs with these ids, in that order; unknown ids are left out. */
export async function readJobs(tx: Tx, ids: readonly number[]): Promise<Job[]> {
  return ids.length === 0 ? [] : jobsInOrder(ids, await tx.all(jobRow, jobsById(ids)));
}

export function jobsInOrder(ids: readonly number[], rows: readonly JobRow[]): Job[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    return row === undefined ? [] : [jobFrom(row)];
  });
}

/** The columns that a list cuts. */
interface Cuttable {
  spec: Part;
  error: Part;
  thrown: Part;
  result: Part;
  /** The names of the fields that are cut. */
  cut: Part;
  /** How many parents are read. */
  parents: Part;
}

const whole: Cuttable = {
  spec: raw('j.spec'),
  error: raw('r.error'),
  thrown: raw('r.thrown'),
  result: raw('x.value'),
  cut: raw('null'),
  parents: raw(''),
};

const MAX_LENGTH = raw(String(MAX_LISTED_LENGTH));
/** SQLite stores JSON as its text. */
const textOf = (json: string) => spelled({ sqlite: raw(json), postgres: raw(`${json}::text`) });
const isLong = (text: Part) => sql`length(${text}) > ${MAX_LENGTH}`;
const unlessLong = (json: string) => sql`case when not ${isLong(textOf(json))} then ${raw(json)} end`;
const inSpec = (key: string) => raw(`(j.spec ->> '${key}')`);
/** SQLite parses the spec for each key, so a short spec is not parsed. */
const isLongInSpec = (key: string) =>
  spelled({ sqlite: sql`${isLong(raw('j.spec'))} and ${isLong(inSpec(key))}`, postgres: isLong(inSpec(key)) });
/** Keys of the spec that are left out. An item's value and a sealed input are not shown with the job. */
const OMITTED = ['input', 'env', 'notify', 'item', 'sealed_input'];
const longKeys = OMITTED.map((key) => ifTrue(isLong(inSpec(key)), key));
const paths = OMITTED.map((key) => sql`iif(${isLong(inSpec(key))}, ${raw(`'$.${key}', '$.none'`)})`);
const command = sql`substr(${inSpec('command')}, 1, ${MAX_LENGTH})`;

const short: Cuttable = {
  spec: spelled({
    sqlite: sql`case when ${isLong(raw('j.spec'))} then
      json_replace(json_remove(j.spec, ${join(paths, ', ')}), '$.command', ${command}) else j.spec end`,
    postgres: sql`case when ${join(['command', ...OMITTED].map(isLongInSpec), ' or ')} then
      jsonb_set(j.spec - array[${join(longKeys, ', ')}], '{command}', coalesce(to_jsonb(${command}), 'null'), false) else j.spec end`,
  }),
  error: sql`substr(r.error, 1, ${MAX_LENGTH})`,
  thrown: unlessLong('r.thrown'),
  result: unlessLong('x.value'),
  cut: arrayOf([
    ...['command', 'input', 'env', 'notify'].map((key) => ifTrue(isLongInSpec(key), key)),
    ifTrue(isLong(raw('r.error')), 'error'),
    ifTrue(isLong(textOf('r.thrown')), 'thrown'),
    ifTrue(isLong(textOf('x.value')), 'result'),
  ]),
  parents: raw(`limit ${MAX_LISTED_PARENTS + 1}`),
};

function ifTrue(condition: Part, name: string): Fragment {
  return sql`case when ${condition} then ${raw(`'${name}'`)} end`;
}

function arrayOf(elements: readonly Fragment[]): Spelling {
  const all = join(elements, ', ');
  return spelled({ sqlite: sql`json_array(${all})`, postgres: sql`array[${all}]` });
}

const parents = spelled({
  sqlite: raw('json_group_array(json_array(e.parent_id, e.condition))'),
  postgres: raw('json_agg(json_build_array(e.parent_id, e.condition) order by e.parent_id)'),
});

/** The run row shown with a job: for an unfinished job the last attempt with an error, for an ended one the row that ended it. */
const isShown = raw(`from run e
    where e.job_id = j.id and (e.status is not null or (l.job_id is not null and e.error is not null))
    order by e.status is not null desc, e.attempt desc limit 1`);
export const lastRun = spelled({
  sqlite: sql`left join run r on r.job_id = j.id and r.attempt = (select e.attempt ${isShown})`,
  postgres: sql`left join lateral (select * ${isShown}) r on true`,
});

const status = statusOf('l');
/** Looked up for ended jobs, and for unfinished ones that have steps. An attempt that was suspended ended then. */
const durable = (dialect: Dialect) => {
  const object = raw(dialect === 'postgres' ? 'json_build_object' : 'json_object');
  const unused = raw(dialect === 'postgres' ? 'd.unused' : 'json(d.unused)');
  return sql`case when l.job_id is null or l.flags & ${raw(String(FLAG.hasSteps))} <> 0 then (
    select ${object}('steps', d.steps, 'unused', ${unused}, 'suspendedAt',
      case when l.flags & ${raw(String(FLAG.suspended))} <> 0 and ${status} = 'scheduled' then (
        select ${msOf('e.ended_at')} from run e where e.job_id = j.id and e.attempt = l.attempt) end)
    from durable d where d.job_id = j.id) end`;
};
const jobsWith = (given: Cuttable) => sql`
  j.id, j.queue, j.kind, j.name, j.priority, j.tags, ${given.spec} as spec, j.created_at,
  coalesce(${status}, r.status) as status, coalesce(l.attempt, r.attempts) as attempt,
  coalesce(l.failures, r.failures, 0) as failures, coalesce(l.interruptions, r.interruptions, 0) as interruptions,
  coalesce(l.snoozes, r.snoozes, 0) as snoozes, coalesce(l.losses, r.losses, 0) as losses, coalesce(l.due, r.due) as due_at,
  case when l.job_id is null then r.started_at else l.started_at end as started_at,
  case when l.job_id is null then r.ended_at end as done_at,
  case when l.job_id is null then r.worker_id else l.worker_id end as worker_id,
  case when ${status} = 'running' then coalesce(l.renewed_at, w.seen_at) end as last_heartbeat_at,
  case when l.job_id is null then r.cancel_requested_at else l.cancel_requested_at end as cancel_requested_at,
  coalesce(l.flags & ${raw(String(FLAG.gangStop))} <> 0, false) as gang_stop,
  case when ${status} <> 'running' then l.expires_at end as expires_at,
  r.exit_code, r.signal, ${given.error} as error, ${given.thrown} as thrown, r.reason, ${given.result} as result,
  p.attempt as progress_attempt, p.fraction, p.note, p.checkpoint_kind, p.checkpoint_bytes, p.checkpoint_attempt, p.checkpoint_at,
  (select ${parents} from (
    select parent_id, condition from edge where child_id = j.id order by parent_id ${given.parents}) e) as depends_on,
  j.workflow_id, j.step_key, j.group_id, j.group_index, j.rerun_of, ${durable} as durable, ${given.cut} as cut
  from job j left join live l on l.job_id = j.id ${lastRun}
    left join worker w on w.id = l.worker_id left join result x on x.job_id = j.id left join progress p on p.job_id = j.id`;

/** Behind `select`: the columns and tables of jobs that are read whole, `j`. */
export const wholeJobs = jobsWith(whole);
/** The columns and tables of jobs in lists. */
export const listedJobs = jobsWith(short);

const attempt = columns<Omit<Attempt, 'usage'> & { cpuMs: number | null; maxRss: Usage['maxRssBytes'] }>({
  jobId: 'bigint',
  attempt: 'int',
  workerId: 'int',
  startedAt: 'instant',
  endedAt: 'instant',
  outcome: 'text',
  exitCode: 'int',
  signal: 'text',
  error: 'text',
  thrown: 'json',
  cpuMs: 'bigint',
  maxRss: 'bigint',
});

async function attempts(tx: Tx, jobId: number): Promise<Attempt[]> {
  const rows = await tx.all(
    attempt,
    sql`select job_id, attempt, worker_id, coalesce(started_at, ended_at) as started_at, ended_at, outcome, exit_code, signal, error,
        thrown, cpu_ms, max_rss
      from run where job_id = ${jobId} and attempt > 0 order by attempt`,
  );
  return rows.map(({ cpuMs, maxRss, ...row }) => ({
    ...row,
    usage: cpuMs === null ? null : { cpuMs, maxRssBytes: maxRss },
  }));
}

export const readMethods = {
  read: one('urgent', readJobs),
  attempts: one('read', attempts),
};
