-- What SQLite has beside the tables in src/store/migrations. Instants are epoch milliseconds, JSON and lists are text, booleans are 0 and 1.

insert into meta (schema_version, min_code, lock_space) values (0, 0, abs(random() % 2147483647));

-- A job without flags settles without a look at other jobs.
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
  expires_at integer,
  open_edges integer,
  held_edges integer,
  broken_edges integer,
  missed_edges integer,
  fair_key text,
  line integer
) strict;

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
  thrown text,
  cpu_ms integer,
  max_rss integer,
  attempts integer,
  failures integer,
  interruptions integer,
  snoozes integer,
  losses integer,
  cancel_requested_at integer,
  propagated integer,
  primary key (job_id, attempt)
) strict, without rowid;

create index job_unique_key on job (json_extract(spec, '$.unique_key'), id) where instr(spec, '"unique_key"') > 0;
create index job_tagged on job (id) where tags <> '[]';

-- The order in which a lane's jobs are claimed.
create index live_pending on live (lane, rank, turn, due, job_id) where status = 'pending';
create index live_fair on live (lane, rank, fair_key, turn) where status = 'pending' and fair_key is not null;
create index live_scheduled on live (due, job_id) where status = 'scheduled';
create index live_running on live (worker_id) where status = 'running';
create index live_expires on live (expires_at) where expires_at is not null;
create index live_line on live (line) where line is not null;
create index live_suspect on live (job_id) where flags & 65536;
create index lane_gang on lane (id) where gang;
create index parking_opens on parking (opens_at);

-- With ended_at, runs that are old enough to prune are found without reading the rows.
create index run_final on run (status, job_id, ended_at) where status is not null;
-- Jobs that are done have no reason, so that their ends need not write here.
create index run_reason on run (reason, job_id) where reason is not null;
create index job_group_needs_items on job_group (job_id) where needs_items = 1;
