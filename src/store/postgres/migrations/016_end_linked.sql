-- Ends jobs as done and tells those who wait for them, in one call: p_jobs with their fences and what they left (equally long),
-- and what workflow each is a step of (0: none; no array: nothing is counted). A function, because each of its statements sees
-- what was committed before it: the second waited for nobody, and knows every child that was submitted before its parent
-- ended.
--
-- Told are those to whom a success can only be good news: they wait, all that they have heard so far was good, and none of
-- their edges asks for a failure. Nothing is to be judged then but whether this was the last, and their edges stay as they
-- are: run.told says that they hold. Where there are others, or somebody else is at work on the same children and does
-- not soon let go, `stale` is true and the rest is the caller's, in the same transaction; then no workflow is counted.
create function workron.end_linked(
  p_jobs bigint[], p_attempts integer[], p_workers integer[], p_exit_codes integer[], p_results jsonb[], p_began float8[],
  p_workflows bigint[],
  out "now" float8, out ids bigint[], out attempts integer[], out workers integer[], out lanes integer[],
  out dues float8[], out starts float8[], out flags integer[], out told bigint[], out pending bigint[],
  out told_due float8, out stale boolean, out counted bigint[]
) language plpgsql set enable_memoize = off as $$
#variable_conflict use_column
declare
  v_now timestamptz(3) := workron.now();
  v_ids bigint[];
  v_parents bigint[];
  v_workflows bigint[];
  v_children bigint[];
  v_counts integer[];
  v_told bigint[];
  v_concerned bigint := 0;
  v_patience text;
begin
  "now" := round(date_part('epoch', v_now) * 1000);
  with input as materialized (
      select * from unnest(p_jobs, p_attempts, p_workers, p_exit_codes, p_results, p_began, p_workflows)
        i(job_id, attempt, worker_id, exit_code, result, began_at, workflow_id)),
    gone as (
      delete from workron.live l using input i
      where l.job_id = i.job_id and l.attempt = i.attempt and l.worker_id = i.worker_id and l.status || '' = 'running'
      returning l.job_id, l.attempt, l.lane, l.due, l.failures, l.interruptions, l.snoozes, l.losses, l.flags, l.worker_id,
        coalesce(l.started_at, least(to_timestamp(i.began_at / 1000.0)::timestamptz(3), v_now)) as started_at,
        l.cancel_requested_at, i.exit_code, i.result, i.workflow_id),
    runs as (
      insert into workron.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, exit_code, attempts,
        failures, interruptions, snoozes, losses, cancel_requested_at, told)
      select job_id, attempt, 'done', 'done', worker_id, started_at, v_now, due, exit_code, attempt,
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
  stale := false;
  if v_ids is null then return; end if;

  if v_parents is not null then
    -- In the order in which everybody locks.
    select array_agg(child_id) filter (where good = heard), array_agg(good) filter (where good = heard),
      count(*) filter (where news)
    into v_children, v_counts, v_concerned
    from (
      select e.child_id, count(*)::integer as heard,
        (count(*) filter (where e.condition <> 'failure' and e.state = 'open'))::integer as good,
        bool_or(e.state <> case when e.condition = 'failure' then 'impossible' else 'held' end) as news
      from unnest(v_parents) p(id) cross join lateral (
        select e.child_id, e.condition, e.state from workron.edge e where e.parent_id = p.id offset 0) e
      group by e.child_id order by e.child_id) c;
  end if;
  if v_children is not null then
    v_patience := current_setting('lock_timeout');
    begin
      perform set_config('lock_timeout', '20ms', true);
      with freed as (
        update workron.live l
        set open_edges = l.open_edges - c.count, held_edges = l.held_edges + c.count,
          status = case when l.open_edges > c.count then 'blocked' when l.due > v_now then 'scheduled' else 'pending' end,
          expires_at = case when l.open_edges = c.count and l.flags & 2048 = 0
            then greatest(l.due, v_now) + interval '1 ms' * (
              select (j.spec ->> 'start_timeout_ms')::float8 from workron.job j where j.id = l.job_id) end
        from unnest(v_children, v_counts) c(child_id, count)
        where l.job_id = c.child_id and l.status || '' = 'blocked' and l.flags & 2 = 0 and l.broken_edges = 0 and l.missed_edges = 0
        returning l.job_id, l.status, l.due)
      select array_agg(job_id), array_agg(job_id) filter (where status = 'pending'),
        round(date_part('epoch', min(due) filter (where status = 'scheduled')) * 1000)
      into v_told, pending, told_due from freed;
      perform set_config('lock_timeout', v_patience, true);
    exception when lock_not_available then
      v_told := null;
      pending := null;
      told_due := null;
    end;
    told := v_told;
  end if;
  stale := v_concerned > coalesce(cardinality(v_told), 0);

  if v_workflows is not null and not stale then
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
