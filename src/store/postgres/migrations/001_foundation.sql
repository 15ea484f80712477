-- The tables that jobs live in. `workron.` stands for the installation's schema.

-- One row about the installation. lock_space is part one of every advisory lock key: advisory locks and
-- notification channels are per database, not per schema.
create table workron.meta (
  "only" boolean primary key default true check ("only"),
  schema_version integer not null,
  min_code integer not null,
  lock_space integer not null,
  clock_offset_ms bigint not null default 0
);
insert into workron.meta (schema_version, min_code, lock_space)
  values (0, 1, floor(random() * 2147483647)::integer);

-- The only source of the present moment. Tests move the offset.
create function workron.now() returns timestamptz language sql volatile as
  $$ select date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => clock_offset_ms / 1000.0) from workron.meta $$;

-- What was asked for. Written at submission and by an edit, never on the hot path. `spec` holds what is not a default.
create sequence workron.job_id;
create table workron.job (
  id bigint primary key,
  queue text not null,
  kind text not null,
  name text,
  priority smallint not null,
  tags text[] not null,
  created_at timestamptz(3) not null,
  spec jsonb not null
);

-- One combination of queue, kind, requires and resources; `key` is its canonical text.
create table workron.lane (
  id integer generated always as identity primary key,
  key text not null unique,
  queue text not null
);

-- One narrow row per unfinished job: its state, its place in the order, its lock.
-- flags: 1 children, 2 group, 4 workflow, 8 holds a unique key. Rows without flags settle in one statement.
create table workron.live (
  job_id bigint primary key,
  status text not null,
  lane integer not null,
  rank integer not null,
  turn bigint not null default 0,
  due timestamptz(3) not null,
  attempt integer not null default 0,
  failures integer not null default 0,
  interruptions integer not null default 0,
  snoozes integer not null default 0,
  losses integer not null default 0,
  flags integer not null default 0,
  worker_id integer,
  claim_seq bigint,
  started_at timestamptz(3),
  renewed_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  expires_at timestamptz(3)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000);
create index live_pending on workron.live (lane, rank, turn, due, job_id) where status = 'pending';
create index live_scheduled on workron.live (due, job_id) where status = 'scheduled';
create index live_running on workron.live (worker_id) where status = 'running';
create index live_expires on workron.live (expires_at) where expires_at is not null;

-- Every ended attempt, appended once. The row that ended the job has its `status` (and `reason`, counters); a person's
-- retry takes that back. An end without an attempt is row 0, deleted by a retry.
create table workron.run (
  job_id bigint not null,
  attempt integer not null,
  status text,
  reason text,
  outcome text not null,
  worker_id integer,
  started_at timestamptz(3),
  ended_at timestamptz(3) not null,
  due timestamptz(3),
  exit_code integer,
  signal text,
  error text,
  attempts integer,
  failures integer,
  interruptions integer,
  snoozes integer,
  losses integer,
  cancel_requested_at timestamptz(3),
  primary key (job_id, attempt)
);
create index run_final on workron.run (status, job_id) where status is not null;

-- Results are side rows: most jobs have none.
create table workron.result (
  job_id bigint primary key,
  value jsonb not null
);

-- Output by byte offset.
create table workron.log (
  job_id bigint not null,
  attempt integer not null,
  start bigint not null,
  data bytea not null,
  primary key (job_id, attempt, start)
);

-- Only queues that somebody has set something on.
create table workron.queue (
  name text primary key,
  paused_at timestamptz(3),
  max_running integer
);

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

-- Processes whose workers found nothing to do: while one of them may be waiting, new work is announced. Lost in a crash,
-- as the processes' connections are.
create unlogged table workron.waiter (
  instance_id text primary key,
  until timestamptz not null
);

-- hold: 'pending' until the first claim, 'active' until the end, 'time' until expires_at.
create table workron.unique_key (
  key text primary key,
  job_id bigint not null,
  hold text not null,
  expires_at timestamptz(3)
);
create index unique_key_job on workron.unique_key (job_id);

create table workron.idempotency (
  key text primary key,
  fingerprint text not null,
  answer jsonb not null,
  created_at timestamptz(3) not null
);

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

create sequence workron.operation_id;
create table workron.operation (
  id bigint primary key,
  action text not null,
  filter jsonb not null,
  status text not null,
  total bigint not null,
  cursor bigint,
  changed bigint not null default 0,
  skipped bigint not null default 0,
  created_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
