-- What PostgreSQL has beside the tables in src/store/migrations: sequences, tables and indexes of its own, storage, functions.

insert into workron.meta (schema_version, min_code, lock_space)
  values (0, 0, floor(random() * 2147483647)::integer);

create sequence workron.worker_id as integer;
create sequence workron.job_id;
create sequence workron.workflow_id;
create sequence workron.claim_id;

-- TABLES ---------------------------------------------------------------------------------------------------------------

-- The row is also the job's lock. A job without flags settles in one statement that touches no other job.
--
-- A claim changes no column that an index has or selects by, and the page has room for the new version of the row: a claim
-- writes to no index. So the status is in two columns. claimed: a worker holds the job, it is running. listed_as: the status
-- by which the indexes find the row, and the job's status unless it is claimed. A claimed job stays listed as pending until
-- the first heartbeat some seconds later lists it as running, so that claims need not read past it for hours. A group is
-- listed as running and never claimed. The columns that a claim changes stand side by side: the log of an update holds the
-- part of the row from the first changed byte to the last.
-- failures, interruptions, snoozes, losses: null for 0.
create table workron.live (
  job_id bigint primary key,
  turn bigint not null default 0,
  due timestamptz(3) not null,
  lane integer not null,
  rank integer not null,
  flags integer not null default 0,
  listed_as text not null,
  attempt integer not null default 0,
  claimed boolean not null default false,
  worker_id integer,
  started_at timestamptz(3),
  failures integer,
  interruptions integer,
  snoozes integer,
  losses integer,
  renewed_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  expires_at timestamptz(3),
  open_edges integer,
  held_edges integer,
  broken_edges integer,
  missed_edges integer,
  fair_key text,
  line bigint
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);

-- One row per claim: the jobs that a worker may hold. A hint, by which the jobs of a worker are found without an index that
-- every claim would have to write to; the live row decides. Each claimed job is in a row of its worker. Rows are deleted, or
-- cut to the jobs that are left, some time after their jobs have ended.
-- seq: the worker's number of the claim; null if it renews the lease of each job by itself.
create table workron.claim (
  worker_id integer not null,
  id bigint not null default nextval('workron.claim_id'),
  seq bigint,
  claimed_at timestamptz(3) not null,
  job_ids bigint[] not null,
  primary key (worker_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table workron.claim alter job_ids set storage external;

-- Counters are null for 0.
create table workron.run (
  job_id bigint not null,
  started_at timestamptz(3),
  ended_at timestamptz(3) not null,
  due timestamptz(3),
  cpu_ms bigint,
  max_rss bigint,
  attempt integer not null,
  worker_id integer,
  attempts integer,
  status text,
  outcome text not null,
  exit_code integer,
  failures integer,
  interruptions integer,
  snoozes integer,
  losses integer,
  reason text,
  signal text,
  error text,
  thrown jsonb,
  cancel_requested_at timestamptz(3),
  propagated boolean,
  primary key (job_id, attempt)
);

-- Processes whose workers found nothing to do. New work is announced only while one of them may be waiting. Unlogged: a
-- crash of the server ends the processes' connections too.
create unlogged table workron.waiter (
  instance_id text primary key,
  until timestamptz not null
);

-- Rows that change often, or are locked by an update: with free space on their page, the new version touches no index. Half for edges,
-- because neighbouring edges are mostly closed together.
alter table workron.leader set (fillfactor = 50);
alter table workron.meter set (fillfactor = 50);
alter table workron.edge set (fillfactor = 50);
alter table workron.schedule set (fillfactor = 80);
alter table workron.schedule_line set (fillfactor = 80);

-- INDEXES --------------------------------------------------------------------------------------------------------------

-- No two entries of job_queue and live_pending are equal, so that a full page would be searched for duplicates without success.
alter index workron.job_queue set (deduplicate_items = off);
create index job_unique_key on workron.job ((spec ->> 'unique_key'), id) where spec ? 'unique_key';
create index job_tagged on workron.job (id) where tags <> '{}';

-- The order in which a lane's jobs are claimed.
create index live_pending on workron.live (lane, rank, turn, due, job_id)
  with (deduplicate_items = off) where listed_as = 'pending';
-- The order across lanes, from the 64th lane on: where there are many, a claim need not look at each. Jobs of the first lanes, which
-- are all lanes of most installations, need not be written here.
create index live_crowd on workron.live (rank, turn, due, job_id)
  with (deduplicate_items = off) where listed_as = 'pending' and (lane >> 6) > 0;
create index live_fair on workron.live (lane, rank, fair_key, turn) where listed_as = 'pending' and fair_key is not null;
create index live_scheduled on workron.live (due, job_id) where listed_as = 'scheduled';
create index live_running on workron.live (job_id) where listed_as = 'running';
create index live_expires on workron.live (expires_at) where expires_at is not null;
create index live_line on workron.live (line) where line is not null;
create index place_waiting on workron.place (worker_id) where not started;
create index parking_opens on workron.parking (lane, opens_at);

-- Most jobs are done. Those are found by the primary key, so that their ends need not write here.
create index run_not_done on workron.run (status, job_id) where status <> 'done';
create index run_reason on workron.run (reason, job_id) where reason is not null;
create index job_group_needs_items on workron.job_group (job_id) where needs_items;
create index operation_running on workron.operation (id) where status = 'running';
create index notice_job on workron.notice (job_id) where job_id is not null;
create index notice_workflow on workron.notice (workflow_id) where workflow_id is not null;

-- FUNCTIONS ------------------------------------------------------------------------------------------------------------

-- The current time. The only clock that statements use.
create function workron.now() returns timestamptz language sql volatile as
  $$ select date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => clock_offset_ms / 1000.0) from workron.meta $$;

-- Stores jobs in the caller's transaction. Each job has: queue, kind, name, priority, tags, spec, flags, lane_key, run_at,
-- delay_ms, start_timeout_ms, depends_on, unique {key, hold, hold_ms, on_conflict}. Waiting workers are notified at the
-- commit.
create function workron.enqueue(jobs jsonb) returns table (place integer, job_id bigint, deduplicated boolean)
language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := workron.now();
  v_job jsonb;
  v_place integer := 0;
  v_id bigint;
  v_key text;
  v_holder bigint;
  v_lane integer;
  v_due timestamptz;
  v_flags integer;
  v_fair boolean;
  v_judged boolean;
  v_ids bigint[] := '{}';
  v_work boolean := false;
  v_graph boolean := false;
  v_next timestamptz;
begin
  for v_job in select e.value from jsonb_array_elements(jobs) e loop
    v_place := v_place + 1;
    v_flags := coalesce((v_job ->> 'flags')::integer, 0);
    v_id := nextval('workron.job_id');
    v_key := v_job #>> '{unique,key}';
    if v_key is not null then
      v_holder := null;
      -- A key whose hold has ended is taken over.
      insert into workron.unique_key as k (key, job_id, hold, expires_at)
      values (v_key, v_id, v_job #>> '{unique,hold}', v_now + (v_job #>> '{unique,hold_ms}')::float8 * interval '1 ms')
      on conflict (key) do update set job_id = excluded.job_id, hold = excluded.hold, expires_at = excluded.expires_at
        where k.job_id = 0 or k.expires_at <= v_now
      returning k.job_id into v_holder;
      if v_holder is null then
        select k.job_id into v_holder from workron.unique_key k where k.key = v_key;
        if v_job #>> '{unique,on_conflict}' = 'reject' then
          raise exception 'unique_conflict: the unique key "%" is held by job %', v_key, v_holder using errcode = 'unique_violation';
        end if;
        place := v_place; job_id := v_holder; deduplicated := true;
        return next;
        continue;
      end if;
      -- 8: holds a unique key.
      if v_job #>> '{unique,hold}' <> 'time' then v_flags := v_flags | 8; end if;
    end if;

    -- A lane that may be deleted is looked up again when the job is adopted.
    select n.id into v_lane from workron.lane n where n.key = v_job ->> 'lane_key' and n.unused_mark is null;
    v_judged := v_lane is not null and v_job -> 'depends_on' is null;
    -- In a fair queue the promoter gives the job its turn, so the job starts as scheduled.
    v_fair := exists (select 1 from workron.fair_queue q where q.name = v_job ->> 'queue');
    v_due := greatest(v_now, coalesce(to_timestamp((v_job ->> 'run_at')::float8 / 1000.0),
      v_now + (v_job ->> 'delay_ms')::float8 * interval '1 ms', v_now));

    insert into workron.job (id, queue, kind, name, priority, tags, created_at, spec)
    values (v_id, v_job ->> 'queue', v_job ->> 'kind', v_job ->> 'name', (v_job ->> 'priority')::smallint,
      array(select jsonb_array_elements_text(v_job -> 'tags')), v_now, v_job -> 'spec');
    -- 1024: not judged.
    insert into workron.live (job_id, listed_as, lane, rank, due, expires_at, flags)
    values (v_id,
      case when not v_judged then 'blocked' when v_fair or v_due > v_now then 'scheduled' else 'pending' end,
      coalesce(v_lane, 0), -(v_job ->> 'priority')::integer, v_due,
      case when v_judged then v_due + (v_job ->> 'start_timeout_ms')::float8 * interval '1 ms' end,
      case when v_judged then v_flags else v_flags | 1024 end);
    if not v_judged then
      insert into workron.intake (job_id, kind, request)
      values (v_id, 'submitted', jsonb_build_object('depends_on', coalesce(v_job -> 'depends_on', '[]')));
      v_graph := true;
    elsif v_fair or v_due > v_now then
      v_next := least(v_next, v_due);
    else
      v_work := true;
    end if;
    v_ids := v_ids || v_id;
    place := v_place; job_id := v_id; deduplicated := false;
    return next;
  end loop;
  if v_ids <> '{}' then
    perform pg_notify('workron_' || m.lock_space, jsonb_strip_nulls(jsonb_build_object('from', '', 'jobs', v_ids[1:300],
      'work', nullif(v_work, false), 'graph', nullif(v_graph, false),
      'due', round(date_part('epoch', v_next) * 1000)))::text) from workron.meta m;
  end if;
end $$;

-- Submits one job, for triggers, psql and other languages: select workron.submit(handler => 'mail', input => '{"to": "ada"}').
-- Returns the id of the job, or of the one that holds the unique key.
create function workron.submit(
  command text default null,
  handler text default null,
  input jsonb default null,
  name text default null,
  queue text default 'default',
  priority integer default 0,
  run_at timestamptz default null,
  delay interval default null,
  max_attempts integer default 3,
  timeout interval default '5 minutes',
  unique_key text default null,
  unique_while text default 'active',
  on_conflict text default 'existing',
  tags text[] default '{}',
  depends_on bigint[] default '{}'
) returns bigint language plpgsql as $$
#variable_conflict use_variable
declare
  v_timeout_ms bigint := round(extract(epoch from timeout) * 1000);
  v_unknown bigint;
  v_id bigint;
begin
  if (command is null) = (handler is null) then
    raise exception 'bad_request: expected exactly one of command and handler' using errcode = 'invalid_parameter_value';
  end if;
  if input is not null and handler is null then
    raise exception 'bad_request: input goes to a handler' using errcode = 'invalid_parameter_value';
  end if;
  if run_at is not null and delay is not null then
    raise exception 'bad_request: expected run_at or delay, not both' using errcode = 'invalid_parameter_value';
  end if;
  if priority not between -32768 and 32767 or max_attempts not between 1 and 10000 or v_timeout_ms < 1 then
    raise exception 'bad_request: priority, max_attempts or timeout is out of range' using errcode = 'invalid_parameter_value';
  end if;
  if on_conflict not in ('existing', 'reject') or unique_while not in ('pending', 'active') then
    raise exception 'bad_request: on_conflict is existing or reject, unique_while pending or active'
      using errcode = 'invalid_parameter_value';
  end if;
  select p into v_unknown from unnest(depends_on) p where not exists (select 1 from workron.job j where j.id = p) limit 1;
  if v_unknown is not null then
    raise exception 'dependency_unknown: no job %', v_unknown using errcode = 'foreign_key_violation';
  end if;
  -- Flag 512: a job that may run only once is never prefetched.
  select e.job_id into v_id from workron.enqueue(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'queue', queue, 'kind', coalesce(handler, ''), 'name', name, 'priority', priority, 'tags', to_jsonb(tags),
    'flags', case when max_attempts <= 1 then 512 end,
    'lane_key', '[' || to_json(queue) || ',' || to_json(coalesce(handler, '')) || ',[],[]]',
    'run_at', extract(epoch from run_at) * 1000, 'delay_ms', extract(epoch from delay) * 1000,
    'depends_on', case when depends_on <> '{}' then (select jsonb_agg(jsonb_build_array(p, 'success')) from unnest(depends_on) p) end,
    'unique', case when unique_key is not null
      then jsonb_build_object('key', unique_key, 'hold', unique_while, 'on_conflict', on_conflict) end
  )) || jsonb_build_object('spec', jsonb_strip_nulls(jsonb_build_object(
    'command', command, 'max_attempts', nullif(max_attempts, 3), 'timeout_ms', nullif(v_timeout_ms, 300000),
    'unique_key', unique_key)) || case when input is null then '{}' else jsonb_build_object('input', input) end))) e;
  return v_id;
end $$;

-- Ends a running attempt as done in the caller's transaction. Returns false if the attempt no longer belongs to that worker.
-- Dependents are judged after the commit. An attempt that was prefetched counts as started, reported or not.
create function workron.complete(job bigint, attempt integer, worker integer, result jsonb) returns boolean
language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := workron.now();
  v_gone workron.live%rowtype;
begin
  delete from workron.live l
  where l.job_id = complete.job and l.attempt = complete.attempt and l.worker_id = complete.worker and l.claimed
    and l.flags & 8192 = 0 -- needs all members of its gang
  returning * into v_gone;
  if v_gone.job_id is null then return false; end if;
  insert into workron.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, attempts, failures,
    interruptions, snoozes, losses, cancel_requested_at)
  values (v_gone.job_id, v_gone.attempt, 'done', 'done', v_gone.worker_id, coalesce(v_gone.started_at, v_now), v_now, v_gone.due,
    v_gone.attempt, v_gone.failures, v_gone.interruptions, v_gone.snoozes, v_gone.losses, v_gone.cancel_requested_at);
  if complete.result is not null then
    insert into workron.result (job_id, value) values (v_gone.job_id, complete.result);
  end if;
  -- 8: holds a unique key.
  if v_gone.flags & 8 <> 0 then
    delete from workron.unique_key k where k.job_id = v_gone.job_id and k.hold <> 'time';
  end if;
  -- 4391 = 1 has children | 2 group | 4 workflow | 32 item | 256 notifies of success | 4096 has limits: the end concerns
  -- other rows.
  if v_gone.flags & 4391 <> 0 then
    insert into workron.intake (job_id, kind, request)
    values (v_gone.job_id, 'ended', jsonb_build_object('flags', v_gone.flags));
  end if;
  perform pg_notify('workron_' || m.lock_space, jsonb_strip_nulls(jsonb_build_object('from', '',
    'jobs', array[v_gone.job_id], 'work', true, 'graph', nullif(v_gone.flags & 4391 <> 0, false)))::text) from workron.meta m;
  return true;
end $$;

-- Ends jobs as done and counts their success at their children, in one call. The arrays have one element per job: its fence,
-- exit code, result, the start that the worker reported, and the workflow that it is a step of (0 for none; without that
-- array no workflow is counted). A function, because each of its statements sees what was committed before it: the second
-- one has not waited for a lock and sees every child that was submitted before its parent ended.
--
-- The fast path of `propagate` in core/dag/propagate.ts. Handled here are children that a success can only unblock: they
-- are blocked, none of their edges is broken or missed, and none of the edges from these jobs asks for a failure. It remains
-- to see whether this was the last open edge; the edges themselves stay as they are, since run.propagated says that they are
-- held. If there are other children, or another transaction holds the same children for more than a moment, `incomplete` is
-- true: the caller does the rest in the same transaction, and no workflow has been counted.
create function workron.end_linked(
  p_jobs bigint[], p_attempts integer[], p_workers integer[], p_exit_codes integer[], p_results jsonb[], p_began float8[],
  p_cpu_ms bigint[], p_max_rss bigint[], p_workflows bigint[],
  out "now" float8, out ids bigint[], out attempts integer[], out workers integer[], out lanes integer[],
  out dues float8[], out starts float8[], out flags integer[], out propagated bigint[], out pending bigint[],
  out propagated_due float8, out incomplete boolean, out counted bigint[]
) language plpgsql set enable_memoize = off as $$
#variable_conflict use_column
declare
  v_now timestamptz(3) := workron.now();
  v_freed_at timestamptz(3);
  v_ids bigint[];
  v_parents bigint[];
  v_workflows bigint[];
  v_children bigint[];
  v_counts integer[];
  v_propagated bigint[];
  v_affected bigint := 0;
  v_lock_timeout text;
begin
  "now" := round(date_part('epoch', v_now) * 1000);
  -- 1: has children; 8192: needs all members of its gang.
  with input as materialized (
      select * from unnest(p_jobs, p_attempts, p_workers, p_exit_codes, p_results, p_began, p_cpu_ms, p_max_rss, p_workflows)
        i(job_id, attempt, worker_id, exit_code, result, began_at, cpu_ms, max_rss, workflow_id)),
    gone as (
      delete from workron.live l using input i
      where l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id and l.claimed and l.flags & 8192 = 0
      returning l.job_id, l.attempt, l.lane, l.due, l.failures, l.interruptions, l.snoozes, l.losses, l.flags, l.worker_id,
        coalesce(l.started_at, least(to_timestamp(i.began_at / 1000.0)::timestamptz(3), v_now)) as started_at,
        l.cancel_requested_at, i.exit_code, i.result, i.cpu_ms, i.max_rss, i.workflow_id),
    runs as (
      insert into workron.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, cpu_ms, max_rss, exit_code,
        attempts, failures, interruptions, snoozes, losses, cancel_requested_at, propagated)
      select job_id, attempt, 'done', 'done', worker_id, started_at, v_now, due, cpu_ms, max_rss, exit_code, attempt,
        failures, interruptions, snoozes, losses, cancel_requested_at, case when flags & 1 <> 0 then true end
      from gone),
    results as (
      insert into workron.result (job_id, value) select job_id, result from gone where result is not null),
    settled as (
      delete from workron.cascade c where c.job_id = any(array(select job_id from gone)))
    select array_agg(job_id), array_agg(attempt), array_agg(worker_id), array_agg(lane),
      array_agg(round(date_part('epoch', due) * 1000)), array_agg(round(date_part('epoch', started_at) * 1000)),
      array_agg(flags), array_agg(job_id) filter (where flags & 1 <> 0), array_agg(workflow_id) filter (where workflow_id <> 0)
    into v_ids, attempts, workers, lanes, dues, starts, flags, v_parents, v_workflows from gone;
  ids := v_ids;
  incomplete := false;
  if v_ids is null then return; end if;

  if v_parents is not null then
    -- Sorted by id, as all transactions lock jobs.
    select array_agg(child_id) filter (where holds = edges), array_agg(holds) filter (where holds = edges),
      count(*) filter (where moves)
    into v_children, v_counts, v_affected
    from (
      select e.child_id, count(*)::integer as edges,
        (count(*) filter (where e.condition <> 'failure' and e.state = 'open'))::integer as holds,
        bool_or(e.state <> case when e.condition = 'failure' then 'impossible' else 'held' end) as moves
      from unnest(v_parents) p(id) cross join lateral (
        select e.child_id, e.condition, e.state from workron.edge e where e.parent_id = p.id offset 0) e
      group by e.child_id order by e.child_id) c;
  end if;
  if v_children is not null then
    -- Later than every child's due instant that was "now" at its submission, which may have been after v_now.
    v_freed_at := workron.now();
    v_lock_timeout := current_setting('lock_timeout');
    begin
      perform set_config('lock_timeout', '20ms', true);
      -- 2048: has no start timeout; 2: is a group.
      with freed as (
        update workron.live l
        set open_edges = l.open_edges - c.count, held_edges = l.held_edges + c.count,
          listed_as = case when l.open_edges > c.count then 'blocked' when l.due > v_freed_at then 'scheduled' else 'pending' end,
          expires_at = case when l.open_edges = c.count and l.flags & 2048 = 0
            then greatest(l.due, v_freed_at) + interval '1 ms' * (
              select (j.spec ->> 'start_timeout_ms')::float8 from workron.job j where j.id = l.job_id) end
        from unnest(v_children, v_counts) c(child_id, count)
        where l.job_id = c.child_id and l.listed_as || '' = 'blocked' and l.flags & 2 = 0 and l.broken_edges = 0 and l.missed_edges = 0
        returning l.job_id, l.listed_as as status, l.due)
      select array_agg(job_id), array_agg(job_id) filter (where status = 'pending'),
        round(date_part('epoch', min(due) filter (where status = 'scheduled')) * 1000)
      into v_propagated, pending, propagated_due from freed;
      perform set_config('lock_timeout', v_lock_timeout, true);
    exception when lock_not_available then
      v_propagated := null;
      pending := null;
      propagated_due := null;
    end;
    propagated := v_propagated;
  end if;
  incomplete := v_affected > coalesce(cardinality(v_propagated), 0);

  if v_workflows is not null and not incomplete then
    with steps as (
        select id as workflow_id, count(*)::integer as count from unnest(v_workflows) w(id) group by id),
      locked as materialized (
        select w.id, w.open_steps from workron.workflow w where w.id in (select workflow_id from steps) order by w.id for update),
      counts as (
        update workron.workflow w
        set open_steps = w.open_steps - i.count, fine_steps = w.fine_steps + i.count, status = 'running'
        from locked l join steps i on i.workflow_id = l.id
        where w.id = l.id and l.open_steps > i.count returning w.id)
      select array_agg(id) into counted from counts;
  end if;
end $$;
