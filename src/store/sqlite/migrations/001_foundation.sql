-- The tables that jobs live in. Instants are epoch milliseconds, JSON is text.

-- One row about the installation. lock_space is of use where several installations share a database.
create table meta (
  only integer primary key default 1 check (only = 1),
  schema_version integer not null,
  min_code integer not null,
  lock_space integer not null,
  clock_offset_ms integer not null default 0
) strict;
insert into meta (schema_version, min_code, lock_space) values (0, 1, abs(random() % 2147483647));

-- What was asked for. Written at submission and by an edit, never on the hot path. `spec` holds what is not a default.
create table job (
  id integer primary key autoincrement,
  queue text not null,
  kind text not null,
  name text,
  priority integer not null,
  tags text not null,
  created_at integer not null,
  spec text not null
) strict;

-- One combination of queue, kind, requires and resources; `key` is its canonical text.
create table lane (
  id integer primary key autoincrement,
  key text not null unique,
  queue text not null
) strict;

-- One narrow row per unfinished job: its state and its place in the order.
-- flags: 1 children, 2 group, 4 workflow, 8 holds a unique key. Rows without flags settle by themselves.
create table live (
  job_id integer primary key,
  status text not null,
  lane integer not null,
  rank integer not null,
  turn integer not null default 0,
  due integer not null,
  attempt integer not null default 0,
  failures integer not null default 0,
  interruptions integer not null default 0,
  snoozes integer not null default 0,
  losses integer not null default 0,
  flags integer not null default 0,
  worker_id integer,
  claim_seq integer,
  started_at integer,
  renewed_at integer,
  cancel_requested_at integer,
  expires_at integer
) strict;
create index live_pending on live (lane, rank, turn, due, job_id) where status = 'pending';
create index live_scheduled on live (due, job_id) where status = 'scheduled';
create index live_running on live (worker_id) where status = 'running';
create index live_expires on live (expires_at) where expires_at is not null;

-- Every ended attempt, appended once. The row that ended the job has its `status` (and `reason`, counters); a person's
-- retry takes that back. An end without an attempt is row 0, deleted by a retry.
create table run (
  job_id integer not null,
  attempt integer not null,
  status text,
  reason text,
  outcome text not null,
  worker_id integer,
  started_at integer,
  ended_at integer not null,
  due integer,
  exit_code integer,
  signal text,
  error text,
  attempts integer,
  failures integer,
  interruptions integer,
  snoozes integer,
  losses integer,
  cancel_requested_at integer,
  primary key (job_id, attempt)
) strict, without rowid;
-- ended_at, so that what is old enough to prune is found without looking at the rows.
create index run_final on run (status, job_id, ended_at) where status is not null;

-- Results are side rows: most jobs have none.
create table result (
  job_id integer primary key,
  value text not null
) strict;

-- Output by byte offset.
create table log (
  job_id integer not null,
  attempt integer not null,
  start integer not null,
  data blob not null,
  primary key (job_id, attempt, start)
) strict;

-- Only queues that somebody has set something on.
create table queue (
  name text primary key,
  paused_at integer,
  max_running integer
) strict, without rowid;

create table worker (
  id integer primary key autoincrement,
  name text not null,
  state text not null,
  attachment text not null,
  instance_id text not null,
  lease_ms integer not null,
  registered_at integer not null,
  seen_at integer not null,
  profile text not null
) strict;

-- hold: 'pending' until the first claim, 'active' until the end, 'time' until expires_at.
create table unique_key (
  key text primary key,
  job_id integer not null,
  hold text not null,
  expires_at integer
) strict, without rowid;
create index unique_key_job on unique_key (job_id);
create index unique_key_expires on unique_key (expires_at) where expires_at is not null;

create table idempotency (
  key text primary key,
  fingerprint text not null,
  answer text not null,
  created_at integer not null
) strict, without rowid;
create index idempotency_created on idempotency (created_at);

create table stat (
  minute integer not null,
  instance_id text not null,
  queue text not null,
  outcome text not null,
  count integer not null,
  wait text not null,
  run text not null,
  primary key (minute, queue, outcome, instance_id)
) strict, without rowid;

create table operation (
  id integer primary key autoincrement,
  action text not null,
  filter text not null,
  status text not null,
  total integer not null,
  cursor integer,
  changed integer not null default 0,
  skipped integer not null default 0,
  created_at integer not null,
  ended_at integer
) strict;
