-- What applications do in transactions of their own, and what a running attempt tells of itself.

-- Of the latest attempt that told something. `checkpoint` outlives it: the next attempt goes on from there.
create table workron.progress (
  job_id bigint primary key,
  attempt integer not null,
  fraction float8,
  note text,
  checkpoint jsonb
);

-- Left by an application's transaction for whoever comes first after its commit. Nothing in that transaction waits for
-- others or makes them wait, so what needs locks is done here.
-- kind: 'submitted' (wish: {"depends_on": [[parent, condition], …]}), 'ended' (wish: {"flags": n}).
create table workron.intake (
  job_id bigint primary key,
  kind text not null,
  wish jsonb not null
);

-- Flag 1024 of live: submitted, but not judged. Such a job is blocked, and its lane may be 0 for not known.

-- Stores jobs in the caller's transaction, as the library writes them: queue, kind, name, priority, tags, spec, flags,
-- lane_key, run_at, delay_ms, start_timeout_ms, depends_on, unique {key, hold, hold_ms, on_conflict}. Whoever waits for work hears
-- of them at the commit.
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
      -- A key that nobody holds any more is taken over.
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
      if v_job #>> '{unique,hold}' <> 'time' then v_flags := v_flags | 8; end if;
    end if;

    select n.id into v_lane from workron.lane n where n.key = v_job ->> 'lane_key';
    v_judged := v_lane is not null and v_job -> 'depends_on' is null;
    -- Turns are given to what becomes claimable, by the promoter.
    v_fair := exists (select 1 from workron.fair_queue q where q.name = v_job ->> 'queue');
    v_due := greatest(v_now, coalesce(to_timestamp((v_job ->> 'run_at')::float8 / 1000.0),
      v_now + (v_job ->> 'delay_ms')::float8 * interval '1 ms', v_now));

    insert into workron.job (id, queue, kind, name, priority, tags, created_at, spec)
    values (v_id, v_job ->> 'queue', v_job ->> 'kind', v_job ->> 'name', (v_job ->> 'priority')::smallint,
      array(select jsonb_array_elements_text(v_job -> 'tags')), v_now, v_job -> 'spec');
    insert into workron.live (job_id, status, lane, rank, due, expires_at, flags)
    values (v_id,
      case when not v_judged then 'blocked' when v_fair or v_due > v_now then 'scheduled' else 'pending' end,
      coalesce(v_lane, 0), -(v_job ->> 'priority')::integer, v_due,
      case when v_judged then v_due + (v_job ->> 'start_timeout_ms')::float8 * interval '1 ms' end,
      case when v_judged then v_flags else v_flags | 1024 end);
    if not v_judged then
      insert into workron.intake (job_id, kind, wish)
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

-- The same for triggers, psql and other languages: select workron.submit(handler => 'mail', input => '{"to": "ada"}').
-- Answers with the id of the job, or of the one that holds the unique key.
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
  select e.job_id into v_id from workron.enqueue(jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
    'queue', queue, 'kind', coalesce(handler, ''), 'name', name, 'priority', priority, 'tags', to_jsonb(tags),
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

-- Ends a running attempt as done in the caller's transaction; false where it is no longer that worker's. Whom it concerns
-- hears of it after the commit.
create function workron.complete(job bigint, attempt integer, worker integer, result jsonb) returns boolean
language plpgsql as $$
#variable_conflict use_column
declare
  v_now timestamptz := workron.now();
  v_gone workron.live%rowtype;
begin
  delete from workron.live l
  where l.job_id = complete.job and l.attempt = complete.attempt and l.worker_id = complete.worker and l.status = 'running'
  returning * into v_gone;
  if v_gone.job_id is null then return false; end if;
  insert into workron.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, attempts, failures,
    interruptions, snoozes, losses, cancel_requested_at)
  values (v_gone.job_id, v_gone.attempt, 'done', 'done', v_gone.worker_id, v_gone.started_at, v_now, v_gone.due,
    v_gone.attempt, v_gone.failures, v_gone.interruptions, v_gone.snoozes, v_gone.losses, v_gone.cancel_requested_at);
  if complete.result is not null then
    insert into workron.result (job_id, value) values (v_gone.job_id, complete.result);
  end if;
  if v_gone.flags & 8 <> 0 then
    delete from workron.unique_key k where k.job_id = v_gone.job_id and k.hold <> 'time';
  end if;
  -- Children, groups, workflows, and who wants to be told: 1, 2, 4, 32, 256.
  if v_gone.flags & 295 <> 0 then
    insert into workron.intake (job_id, kind, wish)
    values (v_gone.job_id, 'ended', jsonb_build_object('flags', v_gone.flags));
  end if;
  perform pg_notify('workron_' || m.lock_space, jsonb_strip_nulls(jsonb_build_object('from', '',
    'jobs', array[v_gone.job_id], 'work', true, 'graph', nullif(v_gone.flags & 295 <> 0, false)))::text) from workron.meta m;
  return true;
end $$;
