-- Jobs that may be prefetched of their start, in applications' transactions: one that may run only once is never claimed
-- ahead (flag 512), and one that completes has started, whether that was told before or not.

create or replace function workron.submit(
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

create or replace function workron.complete(job bigint, attempt integer, worker integer, result jsonb) returns boolean
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
  values (v_gone.job_id, v_gone.attempt, 'done', 'done', v_gone.worker_id, coalesce(v_gone.started_at, v_now), v_now, v_gone.due,
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
