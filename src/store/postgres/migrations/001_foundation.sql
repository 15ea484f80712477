-- The schema of Workron: tables, then indexes, then functions. `workron.` stands for the installation's schema.
-- Instants are timestamptz(3): milliseconds, as everywhere in Workron. There are no foreign keys; the code that deletes a
-- job deletes its rows in the other tables.

-- INSTALLATION ---------------------------------------------------------------------------------------------------------

-- One row about the installation. Code below min_code must not use it. lock_space is the first half of every advisory lock
-- key and part of the channel's name: locks and channels belong to a database, not to a schema. home is used on SQLite only.
-- Tests move clock_offset_ms.
create table workron.meta (
  "only" boolean primary key default true check ("only"),
  schema_version integer not null,
  min_code integer not null,
  lock_space integer not null,
  home text,
  clock_offset_ms bigint not null default 0
);
insert into workron.meta (schema_version, min_code, lock_space)
  values (0, 0, floor(random() * 2147483647)::integer);

-- One row per process, renewed every beat_ms.
create table workron.instance (
  id text primary key,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  url text,
  beat_ms integer not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);

-- One row per duty. number is the second half of the duty's advisory lock key. locked: the leader's session holds that
-- lock; a leader without it leads until expires_at. The term rises each time the duty is taken.
create table workron.leader (
  duty text primary key,
  number integer not null unique,
  instance_id text not null,
  term bigint not null,
  expires_at timestamptz(3) not null,
  locked boolean not null
) with (fillfactor = 50);

-- Registered workers.
create sequence workron.worker_id as integer;
create table workron.worker (
  id integer primary key,
  name text not null,
  state text not null,
  attachment text not null,
  instance_id text not null,
  lease_ms integer not null,
  registered_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  profile jsonb not null
);

-- At most one per worker: the job for which it holds the resources that become free, and when that job is expected to start.
-- Written by the worker's claims. A row is void if it was not renewed for a while, or its job cannot be claimed any more.
create table workron.reservation (
  worker_id integer primary key,
  job_id bigint not null,
  starts_at timestamptz(3),
  renewed_at timestamptz(3) not null
);

-- Places of the members of a gang, from when they are given until the gang is over. accepted: the worker has room for it, and holds
-- it. started: the member has been claimed, or will not be in this term. Until all are accepted, they are given back after "until".
-- success: the member has succeeded and waits for the others, {"exitCode", "result"}. A member that is left out of the term has no
-- worker_id, and is accepted. size: the number of members with one.
create table workron.place (
  job_id bigint primary key,
  gang_id text not null,
  rank integer not null,
  size integer not null,
  worker_id integer,
  accepted boolean not null,
  started boolean not null,
  until timestamptz(3) not null,
  success jsonb
);

-- Gangs, from when they are first given places. job_id: the member of rank 0. term: how often it was given places. failures: earlier
-- terms in which a member failed. charged: the failures of its members when the term began. stops: terms that were stopped.
-- A transaction that writes gangs or places locks the table place.
create table workron.gang (
  id text collate "C" primary key,
  job_id bigint not null,
  term integer not null,
  failures integer not null,
  charged integer not null,
  stops integer not null,
  stopping boolean not null
);

-- Processes whose workers found nothing to do. New work is announced only while one of them may be waiting. Unlogged: a
-- crash of the server ends the processes' connections too.
create unlogged table workron.waiter (
  instance_id text primary key,
  until timestamptz not null
);

-- QUEUES ---------------------------------------------------------------------------------------------------------------

-- Queues with settings. A queue without a row is not paused and has no limit. rate: {"limit", "perMs", "burst"}. Its starts are
-- rows of metered_start under the name 'queue:' with the queue's.
create table workron.queue (
  name text primary key,
  paused_at timestamptz(3),
  max_running integer,
  rate jsonb
);

-- Queues whose jobs take turns by fair key, from their first job with a key on. The row is the lock under which turns are
-- given.
create table workron.fair_queue (
  name text primary key
);

-- One combination of queue, kind, required tags and resources. key is its canonical text.
create table workron.lane (
  id integer generated always as identity primary key,
  key text not null unique,
  queue text not null
);

-- Limits and rates by name: 'limit:' or 'rate:' with the key. The row is the lock under which jobs with the key start. max: a
-- limit that a person has set, for all jobs with the key. opens_at: a rate that was closed opens then. window_ms: the
-- longest window that a job has asked for.
create table workron.meter (
  name text collate "C" primary key,
  max integer,
  opens_at timestamptz(3),
  window_ms bigint not null default 0
) with (fillfactor = 50);

-- One row per attempt and meter. A limit counts the attempts that their live row still shows as running, so a row that is
-- left over counts nothing. A rate counts the starts within its window.
create table workron.metered_start (
  name text collate "C" not null,
  at timestamptz(3) not null,
  job_id bigint not null,
  attempt integer not null,
  primary key (name, at, job_id, attempt)
);

-- Pending jobs of one lane that wait for one meter with one rule. Their live rows have -id instead of the lane, so that
-- claims do not read past them. Rows change under the lock of their meter. opens_at: claims look at the parking from then
-- on; -infinity for now, infinity until a running job ends. skips: its jobs do not wait, they end as skipped.
create table workron.parking (
  id integer generated always as identity primary key,
  lane integer not null,
  meter text collate "C" not null,
  rule text not null,
  skips boolean not null,
  opens_at timestamptz(3) not null,
  unique (meter, lane, rule, skips)
);

-- Lanes and parkings with their queue.
create view workron.any_lane as
  select id, queue from workron.lane
  union all select -p.id, n.queue from workron.parking p join workron.lane n on n.id = p.lane;

-- JOBS -----------------------------------------------------------------------------------------------------------------

-- Jobs as submitted. A row is written by the submission and by an edit, never on the hot path. spec holds the fields that
-- differ from the defaults.
create sequence workron.job_id;
create table workron.job (
  id bigint primary key,
  queue text not null,
  kind text not null,
  name text,
  priority smallint not null,
  tags text[] not null,
  created_at timestamptz(3) not null,
  spec jsonb not null,
  workflow_id bigint,
  step_key text,
  group_id bigint,
  group_index integer,
  rerun_of bigint
);

-- One narrow row per unfinished job: its state, its place in the order, its lock. A job without flags settles in one
-- statement that touches no other job.
--
-- A claim changes no column that an index has or selects by, and the page has room for the new version of the row: a claim
-- writes to no index. So the status is in two columns. claimed: a worker holds the job, it is running. listed_as: the status
-- by which the indexes find the row, and the job's status unless it is claimed. A claimed job stays listed as pending until
-- the first heartbeat some seconds later lists it as running, so that claims need not read past it for hours. A group is
-- listed as running and never claimed. The columns that a claim changes stand side by side: the log of an update holds the
-- part of the row from the first changed byte to the last.
--
-- flags (src/store/flags.ts): 1 has children, 2 is a group, 4 belongs to a workflow, 8 holds a unique key, 16 has parents,
-- 32 is an item of a group, 64 was asked to stop without its dependents, 128 notifies of failure, 256 notifies of success,
-- 512 is never prefetched, 1024 was inserted by an application's transaction and not judged since (blocked; lane may be 0
-- for unknown), 2048 has no start timeout, 4096 has limits, 8192 needs all members of its gang, 16384 was asked to stop with
-- its gang, 32768 notifies of a cancel.
-- failures, interruptions, snoozes, losses: null for 0.
-- started_at: null while the job is running means that it was prefetched and has not started.
-- *_edges: the edges to its parents by state; null for a job without parents.
-- fair_key: the key whose turn a claimable job has; '' for jobs without a key, null if it was given no turn.
-- line: the schedule line that the job runs for.
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
create sequence workron.claim_id;
create table workron.claim (
  worker_id integer not null,
  id bigint not null default nextval('workron.claim_id'),
  seq bigint,
  claimed_at timestamptz(3) not null,
  job_ids bigint[] not null,
  primary key (worker_id, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table workron.claim alter job_ids set storage external;

-- Every ended attempt, appended once. The row that ended the job has its status, reason and counters; a retry by a person
-- takes them back. A job that ended without an attempt has a row with attempt 0, deleted by a retry. Counters are null for 0.
-- propagated: the job's success has reached its children, so an edge from it with state `open` counts as held. For a
-- job with many children, one row is written instead of many.
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

-- Results. Most jobs have none.
create table workron.result (
  job_id bigint primary key,
  value jsonb not null
);

-- Progress of the latest attempt that reported any, and the last complete checkpoint of any attempt.
create table workron.progress (
  job_id bigint primary key,
  attempt integer not null,
  fraction float8,
  note text,
  checkpoint_upload bigint,
  checkpoint_kind text,
  checkpoint_bytes integer,
  checkpoint_attempt integer,
  checkpoint_at timestamptz(3)
);

-- Checkpoints in pieces. Pieces of an upload that progress does not name belong to one that is not complete.
create table workron.checkpoint (
  job_id bigint not null,
  upload bigint not null,
  start integer not null,
  data bytea not null,
  primary key (job_id, upload, start)
);

-- Output of attempts by byte offset.
create table workron.log (
  job_id bigint not null,
  attempt integer not null,
  start bigint not null,
  data bytea not null,
  received_at timestamptz not null,
  primary key (job_id, attempt, start)
);

-- Unique keys. hold: 'pending' until the first claim, 'active' until the end, 'time' until expires_at.
create table workron.unique_key (
  key text primary key,
  job_id bigint not null,
  hold text not null,
  expires_at timestamptz(3)
);

-- Answers to requests with an idempotency key.
create table workron.idempotency (
  key text primary key,
  fingerprint text not null,
  answer jsonb not null,
  created_at timestamptz(3) not null
);

-- Jobs that applications inserted or completed in their own transactions. Such a transaction neither waits for others nor
-- makes them wait, so everything that needs locks is done after its commit, by the first process that reads the row.
-- kind: 'submitted' (request: {"depends_on": [[parent, condition], …]}), 'ended' (request: {"flags": n}).
create table workron.intake (
  job_id bigint primary key,
  kind text not null,
  request jsonb not null
);

-- DEPENDENCIES AND WORKFLOWS -------------------------------------------------------------------------------------------

-- Edges. state: open, held, impossible. An edge is written once and closed once: with half of each page free, closing it
-- touches no index. Half, because neighbouring edges are mostly closed together.
create table workron.edge (
  child_id bigint not null,
  parent_id bigint not null,
  condition text not null,
  state text not null,
  primary key (child_id, parent_id)
) with (fillfactor = 50);

-- Ended or reopened jobs whose out-edges are still to be judged. mode: ended, cancelled (with the dependents that can no
-- longer run), reopened.
create table workron.cascade (
  job_id bigint primary key,
  mode text not null
);

-- Workflows with the number of their steps by state. line: the schedule line that the workflow runs for.
create sequence workron.workflow_id;
create table workron.workflow (
  id bigint primary key,
  name text not null,
  params jsonb not null,
  status text not null,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  rerun_of bigint,
  total integer not null,
  open_steps integer not null,
  fine_steps integer not null default 0,
  failed_steps integer not null default 0,
  cancelled_steps integer not null default 0,
  notify jsonb,
  line bigint,
  definition text,
  definition_version integer,
  submitted_by text
);

-- Workflow definitions. body: what the source means, as JSON; text, as equal text means that nothing has changed.
create table workron.definition (
  name text collate "C" not null,
  version integer not null,
  source text not null,
  body text not null,
  created_at timestamptz(3) not null,
  primary key (name, version)
);

-- Groups: steps that are repeated for each item of a list. source: the list, or the parent's id and a path into its result.
-- items: the list, once it is known. needs_items: the grapher has to insert items, or to end the group.
create table workron.job_group (
  job_id bigint primary key,
  source jsonb not null,
  items jsonb,
  max_parallel integer,
  needs_items boolean not null default false,
  inserted integer not null default 0,
  open_items integer not null default 0,
  fine_items integer not null default 0,
  failed_items integer not null default 0,
  cancelled_items integer not null default 0
);

-- SCHEDULES ------------------------------------------------------------------------------------------------------------

-- Schedules. The row is the schedule's lock: judging its ticks, running it by hand and changing it all take it.
create sequence workron.schedule_id;
create table workron.schedule (
  id bigint primary key,
  name text collate "C" not null unique,
  owner text,
  spec jsonb not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  paused_at timestamptz(3),
  paused_note text,
  last_run timestamptz(3),
  last_verdict text,
  last_job_id bigint,
  last_workflow_id bigint
) with (fillfactor = 80);

-- One line per schedule and key ('' for a schedule without keys). cursor: the last tick that has been judged. next_due: when
-- the next one is due. tail: the newest row of the ledger, to which further ticks with the same verdict are added.
create sequence workron.schedule_line_id;
create table workron.schedule_line (
  id bigint primary key,
  schedule_id bigint not null,
  key text not null,
  cursor timestamptz(3) not null,
  next_due timestamptz(3),
  tail_id bigint,
  tail_verdict text,
  unique (schedule_id, key)
) with (fillfactor = 80);

-- The ledger: every tick has one row, or is covered by one (scheduled_for … through). stops: the runs that this one
-- replaced, until they have been asked to stop. outcome: how its run ended, noted when retention deletes the run.
create sequence workron.tick_id;
create table workron.tick (
  id bigint primary key,
  schedule_id bigint not null,
  kind text not null,
  key text not null,
  scheduled_for timestamptz(3) not null,
  through timestamptz(3) not null,
  count bigint not null,
  verdict text not null,
  job_id bigint,
  workflow_id bigint,
  lateness_ms bigint,
  created_at timestamptz(3) not null,
  stops jsonb,
  outcome text
);

-- NOTIFICATIONS --------------------------------------------------------------------------------------------------------

-- Notices: events to notify of, written together with the event. look_at: when a postponed notice is looked at again; due
-- stays, because it is the time since which a run is late.
create table workron.notice (
  id bigint generated always as identity primary key,
  kind text not null,
  due timestamptz(3) not null,
  created_at timestamptz(3) not null,
  job_id bigint,
  workflow_id bigint,
  status text,
  schedule text,
  detail jsonb not null,
  look_at timestamptz(3)
);

-- Notifications by the job that delivers them.
create table workron.notification (
  job_id bigint primary key,
  event text not null,
  subject_job_id bigint,
  workflow_id bigint,
  schedule text,
  created_at timestamptz(3) not null
);

-- Subjects whose latest run failed.
create table workron.alarm (
  subject text primary key,
  raised_at timestamptz(3) not null
);

-- STATISTICS AND BULK OPERATIONS ---------------------------------------------------------------------------------------

-- Ended attempts per minute, queue and outcome, as each process counted them. wait and run are histograms.
create table workron.stat (
  minute timestamptz(3) not null,
  instance_id text not null,
  queue text not null,
  outcome text not null,
  count bigint not null,
  wait bigint[] not null,
  run bigint[] not null,
  primary key (minute, queue, outcome, instance_id)
);

-- Actions on all jobs that match a filter. cursor: the last job that was processed.
create sequence workron.operation_id;
create table workron.operation (
  id bigint primary key,
  action text not null,
  filter jsonb not null,
  status text not null,
  total bigint not null,
  asked_by jsonb,
  cursor bigint,
  changed bigint not null default 0,
  skipped bigint not null default 0,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3)
);

-- Secrets that jobs name in their environment. sealed: AES-256-GCM, in base64; the key is not in the database.
create table workron.secret (
  name text primary key,
  key_id text not null,
  sealed text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- Tokens of the API. Of a name, one is valid, or two after a rotation: the older one has replaced_at.
create table workron.token (
  id integer primary key generated always as identity,
  name text not null,
  role text not null,
  queues text[],
  hash text not null unique,
  created_at timestamptz(3) not null,
  created_by text not null,
  expires_at timestamptz(3),
  replaced_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
create unique index token_name on workron.token (name) where replaced_at is null and revoked_at is null;

-- Sessions of the dashboard, links that open one, tickets for downloads.
create table workron.session (
  hash text primary key,
  kind text not null,
  caller text not null,
  request text,
  created_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);

-- Who changed what through the API. A row is written before the change; status is null until its result is known.
create table workron.audit (
  id bigint primary key generated always as identity,
  at timestamptz(3) not null,
  actor text not null,
  address text not null,
  action text not null,
  path text not null,
  status integer,
  request_id text not null
);

-- INDEXES --------------------------------------------------------------------------------------------------------------

-- The changes of one job, for its history.
create index audit_path on workron.audit (path);

-- Lists by name, queue and tags. The claim reads none of these. No two entries of job_queue and live_pending are equal, so that a
-- full page would be searched for duplicates without success.
create index job_name on workron.job (name, id) where name is not null;
create index job_queue on workron.job (queue, id) with (deduplicate_items = off);
create index job_unique_key on workron.job ((spec ->> 'unique_key'), id) where spec ? 'unique_key';
create index job_tagged on workron.job (id) where tags <> '{}';
create index job_workflow on workron.job (workflow_id, id) where workflow_id is not null;
create unique index job_item on workron.job (group_id, group_index) where group_id is not null;

-- The order in which a lane's jobs are claimed.
create index live_pending on workron.live (lane, rank, turn, due, job_id)
  with (deduplicate_items = off) where listed_as = 'pending';
-- The order across lanes, from the 64th lane on: where there are many, a claim need not look at each. Jobs of the first lanes, which
-- are all lanes of most installations, need not be written here.
create index live_crowd on workron.live (rank, turn, due, job_id)
  with (deduplicate_items = off) where listed_as = 'pending' and (lane >> 6) > 0;
create index live_fair on workron.live (lane, rank, fair_key, turn) where listed_as = 'pending' and fair_key is not null;
create index metered_start_job on workron.metered_start (job_id);
create index parking_opens on workron.parking (lane, opens_at);
create index live_scheduled on workron.live (due, job_id) where listed_as = 'scheduled';
create index live_running on workron.live (job_id) where listed_as = 'running';
create index live_expires on workron.live (expires_at) where expires_at is not null;
create index live_line on workron.live (line) where line is not null;

-- Most jobs are done. Those are found by the primary key, so that their ends need not write here.
create index run_not_done on workron.run (status, job_id) where status <> 'done';
create index run_reason on workron.run (reason, job_id) where reason is not null;
create index unique_key_job on workron.unique_key (job_id);

create index edge_parent on workron.edge (parent_id, child_id);
create index workflow_status on workron.workflow (status, id);
create index workflow_definition on workron.workflow (definition, id) where definition is not null;
create index workflow_line on workron.workflow (line) where line is not null and ended_at is null;
create index job_group_needs_items on workron.job_group (job_id) where needs_items;

create index schedule_line_due on workron.schedule_line (next_due, id) where next_due is not null;
create unique index tick_once on workron.tick (schedule_id, key, scheduled_for, kind) where kind <> 'manual';
create index tick_ledger on workron.tick (schedule_id, id);
create index tick_created on workron.tick (created_at);
create index tick_stops on workron.tick (id) where stops is not null;
create index tick_job on workron.tick (job_id) where job_id is not null;
create index tick_workflow on workron.tick (workflow_id) where workflow_id is not null;

create index notice_look on workron.notice ((coalesce(look_at, due)), id);
-- Missed ticks of one schedule share one notice until it is delivered.
create unique index notice_missed on workron.notice (schedule) where kind = 'missed';
create index notification_job on workron.notification (subject_job_id) where subject_job_id is not null;
create index notification_workflow on workron.notification (workflow_id) where workflow_id is not null;
create index notification_schedule on workron.notification (schedule) where schedule is not null;

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

    select n.id into v_lane from workron.lane n where n.key = v_job ->> 'lane_key';
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
