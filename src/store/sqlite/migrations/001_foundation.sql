-- The schema of Workron: tables, then indexes. Instants are epoch milliseconds, JSON and lists are text, booleans are 0 and 1.
-- There are no foreign keys; the code that deletes a job deletes its rows in the other tables.

-- INSTALLATION ---------------------------------------------------------------------------------------------------------

-- One row about the installation. Code below min_code must not use it. lock_space is used on PostgreSQL only. home is the name
-- under which the file is used: its write-ahead log and the lock of its owner lie beside it. Tests move clock_offset_ms.
create table meta (
  only integer primary key default 1 check (only = 1),
  schema_version integer not null,
  min_code integer not null,
  lock_space integer not null,
  home text,
  clock_offset_ms integer not null default 0
) strict;
insert into meta (schema_version, min_code, lock_space) values (0, 0, abs(random() % 2147483647));

-- One row per process, renewed every beat_ms. A file has one owner, so there is one row.
create table instance (
  id text primary key,
  host text not null,
  pid integer not null,
  roles text not null,
  version text not null,
  url text,
  beat_ms integer not null,
  started_at integer not null,
  seen_at integer not null
) strict;

-- One row per duty, all led by the owner of the file. number and locked are used on PostgreSQL only. The term rises each
-- time the duty is taken.
create table leader (
  duty text primary key,
  number integer not null unique,
  instance_id text not null,
  term integer not null,
  expires_at integer not null,
  locked integer not null
) strict;

-- Registered workers.
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

-- At most one per worker: the job for which it holds the resources that become free, and when that job is expected to start.
-- Written by the worker's claims. A row is void if it was not renewed for a while, or its job cannot be claimed any more.
create table reservation (
  worker_id integer primary key,
  job_id integer not null,
  starts_at integer,
  renewed_at integer not null
) strict;

-- Places of the members of a gang, from when they are given until the gang is over. accepted: the worker has room for it, and holds
-- it. started: the member has been claimed, or will not be in this term. Until all are accepted, they are given back after "until".
-- success: the member has succeeded and waits for the others, {"exitCode", "result"}. A member that is left out of the term has no
-- worker_id, and is accepted. size: the number of members with one.
create table place (
  job_id integer primary key,
  gang_id text not null,
  rank integer not null,
  size integer not null,
  worker_id integer,
  accepted integer not null,
  started integer not null,
  until integer not null,
  success text
) strict;

-- Gangs, from when they are first given places. job_id: the member of rank 0. term: how often it was given places. failures: earlier
-- terms in which a member failed. charged: the failures of its members when the term began. stops: terms that were stopped.
create table gang (
  id text primary key,
  job_id integer not null,
  term integer not null,
  failures integer not null,
  charged integer not null,
  stops integer not null,
  stopping integer not null
) strict, without rowid;

-- QUEUES ---------------------------------------------------------------------------------------------------------------

-- Queues with settings. A queue without a row is not paused and has no limit. rate: {"limit", "perMs", "burst"}. Its starts are
-- rows of metered_start under the name 'queue:' with the queue's.
create table queue (
  name text primary key,
  paused_at integer,
  max_running integer,
  rate text
) strict, without rowid;

-- Queues whose jobs take turns by fair key, from their first job with a key on.
create table fair_queue (
  name text primary key
) strict;

-- One combination of queue, kind, required tags and resources. key is its canonical text.
create table lane (
  id integer primary key autoincrement,
  key text not null unique,
  queue text not null
) strict;

-- Limits and rates by name: 'limit:' or 'rate:' with the key. max: a limit that a person has set, for all jobs with the key.
-- opens_at: a rate that was closed opens then. window_ms: the longest window that a job has asked for.
create table meter (
  name text primary key,
  max integer,
  opens_at integer,
  window_ms integer not null default 0
) strict, without rowid;

-- One row per attempt and meter. A limit counts the attempts that their live row still shows as running, so a row that is
-- left over counts nothing. A rate counts the starts within its window.
create table metered_start (
  name text not null,
  at integer not null,
  job_id integer not null,
  attempt integer not null,
  primary key (name, at, job_id, attempt)
) strict, without rowid;

-- Pending jobs of one lane that wait for one meter with one rule. Their live rows have -id instead of the lane, so that
-- claims do not read past them. opens_at: claims look at the parking from then on; 0 for now, 9007199254740991 until a
-- running job ends. skips: its jobs do not wait, they end as skipped.
create table parking (
  id integer primary key autoincrement,
  lane integer not null,
  meter text not null,
  rule text not null,
  skips integer not null,
  opens_at integer not null,
  unique (meter, lane, rule, skips)
) strict;

-- Lanes and parkings with their queue.
create view any_lane as
  select id, queue from lane
  union all select -p.id, n.queue from parking p join lane n on n.id = p.lane;

-- JOBS -----------------------------------------------------------------------------------------------------------------

-- Jobs as submitted. A row is written by the submission and by an edit, never on the hot path. spec holds the fields that
-- differ from the defaults.
create table job (
  id integer primary key autoincrement,
  queue text not null,
  kind text not null,
  name text,
  priority integer not null,
  tags text not null,
  created_at integer not null,
  spec text not null,
  workflow_id integer,
  step_key text,
  group_id integer,
  group_index integer,
  rerun_of integer
) strict;

-- One narrow row per unfinished job: its state and its place in the order. A job without flags settles without a look at
-- other jobs.
--
-- flags (src/store/flags.ts): 1 has children, 2 is a group, 4 belongs to a workflow, 8 holds a unique key, 16 has parents,
-- 32 is an item of a group, 64 was asked to stop without its dependents, 128 notifies of failure, 256 notifies of success,
-- 1024 was inserted by an application's transaction and not judged since (blocked; lane is 0 for unknown), 2048 has no start
-- timeout, 4096 has limits, 8192 needs all members of its gang, 16384 was asked to stop with its gang, 32768 notifies of a
-- cancel. 512 is used on PostgreSQL only: SQLite reads the job's spec instead.
-- started_at: null while the job is running means that it was prefetched and has not started.
-- *_edges: the edges to its parents by state; null for a job without parents.
-- fair_key: the key whose turn a claimable job has; '' for jobs without a key, null if it was given no turn.
-- line: the schedule line that the job runs for.
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

-- Every ended attempt, appended once. The row that ended the job has its status, reason and counters; a retry by a person
-- takes them back. A job that ended without an attempt has a row with attempt 0, deleted by a retry.
-- propagated: the job's success has reached its children, so an edge from it with state `open` counts as held. For a
-- job with many children, one row is written instead of many.
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

-- Results. Most jobs have none.
create table result (
  job_id integer primary key,
  value text not null
) strict;

-- Progress of the latest attempt that reported any, and the last complete checkpoint of any attempt.
create table progress (
  job_id integer primary key,
  attempt integer not null,
  fraction real,
  note text,
  checkpoint_upload integer,
  checkpoint_kind text,
  checkpoint_bytes integer,
  checkpoint_attempt integer,
  checkpoint_at integer
) strict;

-- Checkpoints in pieces. Pieces of an upload that progress does not name belong to one that is not complete.
create table checkpoint (
  job_id integer not null,
  upload integer not null,
  start integer not null,
  data blob not null,
  primary key (job_id, upload, start)
) strict;

-- Output of attempts by byte offset.
create table log (
  job_id integer not null,
  attempt integer not null,
  start integer not null,
  data blob not null,
  received_at integer not null,
  primary key (job_id, attempt, start)
) strict;

-- Unique keys. hold: 'pending' until the first claim, 'active' until the end, 'time' until expires_at.
create table unique_key (
  key text primary key,
  job_id integer not null,
  hold text not null,
  expires_at integer
) strict, without rowid;

-- Answers to requests with an idempotency key.
create table idempotency (
  key text primary key,
  fingerprint text not null,
  answer text not null,
  created_at integer not null
) strict, without rowid;

-- Jobs that applications inserted or completed in their own transactions, to be judged after the commit.
-- kind: 'submitted' (request: {"depends_on": [[parent, condition], …]}), 'ended' (request: {"flags": n}).
create table intake (
  job_id integer primary key,
  kind text not null,
  request text not null
) strict;

-- DEPENDENCIES AND WORKFLOWS -------------------------------------------------------------------------------------------

-- Edges. state: open, held, impossible.
create table edge (
  child_id integer not null,
  parent_id integer not null,
  condition text not null,
  state text not null,
  primary key (child_id, parent_id)
) strict, without rowid;

-- Ended or reopened jobs whose out-edges are still to be judged. mode: ended, cancelled (with the dependents that can no
-- longer run), reopened.
create table cascade (
  job_id integer primary key,
  mode text not null
) strict;

-- Workflows with the number of their steps by state. line: the schedule line that the workflow runs for.
create table workflow (
  id integer primary key autoincrement,
  name text not null,
  params text not null,
  status text not null,
  created_at integer not null,
  started_at integer,
  ended_at integer,
  rerun_of integer,
  total integer not null,
  open_steps integer not null,
  fine_steps integer not null default 0,
  failed_steps integer not null default 0,
  cancelled_steps integer not null default 0,
  notify text,
  line integer,
  definition text,
  definition_version integer,
  submitted_by text
) strict;

-- Workflow definitions. body: what the source means, as JSON.
create table definition (
  name text not null,
  version integer not null,
  source text not null,
  body text not null,
  created_at integer not null,
  primary key (name, version)
) strict, without rowid;

-- Groups: steps that are repeated for each item of a list. source: the list, or the parent's id and a path into its result.
-- items and total: the list and its length, once they are known. needs_items: the grapher has to insert items, or
-- to end the group.
create table job_group (
  job_id integer primary key,
  source text not null,
  items text,
  total integer,
  max_parallel integer,
  needs_items integer not null default 0,
  inserted integer not null default 0,
  open_items integer not null default 0,
  fine_items integer not null default 0,
  failed_items integer not null default 0,
  cancelled_items integer not null default 0
) strict;

-- SCHEDULES ------------------------------------------------------------------------------------------------------------

-- Schedules.
create table schedule (
  id integer primary key autoincrement,
  name text not null unique,
  owner text,
  spec text not null,
  created_at integer not null,
  updated_at integer not null,
  paused_at integer,
  paused_note text,
  last_run integer,
  last_verdict text,
  last_job_id integer,
  last_workflow_id integer
) strict;

-- One line per schedule and key ('' for a schedule without keys). cursor: the last tick that has been judged. next_due: when
-- the next one is due. tail: the newest row of the ledger, to which further ticks with the same verdict are added.
create table schedule_line (
  id integer primary key autoincrement,
  schedule_id integer not null,
  key text not null,
  cursor integer not null,
  next_due integer,
  tail_id integer,
  tail_verdict text,
  unique (schedule_id, key)
) strict;

-- The ledger: every tick has one row, or is covered by one (scheduled_for … through). stops: the runs that this one
-- replaced, until they have been asked to stop. outcome: how its run ended, noted when retention deletes the run.
create table tick (
  id integer primary key autoincrement,
  schedule_id integer not null,
  kind text not null,
  key text not null,
  scheduled_for integer not null,
  through integer not null,
  count integer not null,
  verdict text not null,
  job_id integer,
  workflow_id integer,
  lateness_ms integer,
  created_at integer not null,
  stops text,
  outcome text
) strict;

-- NOTIFICATIONS --------------------------------------------------------------------------------------------------------

-- Notices: events to notify of, written together with the event. look_at: when a postponed notice is looked at again; due
-- stays, because it is the time since which a run is late.
create table notice (
  id integer primary key autoincrement,
  kind text not null,
  due integer not null,
  created_at integer not null,
  job_id integer,
  workflow_id integer,
  status text,
  schedule text,
  detail text not null,
  look_at integer
) strict;

-- Notifications by the job that delivers them.
create table notification (
  job_id integer primary key,
  event text not null,
  subject_job_id integer,
  workflow_id integer,
  schedule text,
  created_at integer not null
) strict;

-- Subjects whose latest run failed.
create table alarm (
  subject text primary key,
  raised_at integer not null
) strict, without rowid;

-- STATISTICS AND BULK OPERATIONS ---------------------------------------------------------------------------------------

-- Ended attempts per minute, queue and outcome. wait and run are histograms.
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

-- Actions on all jobs that match a filter. cursor: the last job that was processed. asked_by: who, for the audit, as JSON.
create table operation (
  id integer primary key autoincrement,
  action text not null,
  filter text not null,
  status text not null,
  total integer not null,
  asked_by text,
  cursor integer,
  changed integer not null default 0,
  skipped integer not null default 0,
  created_at integer not null,
  ended_at integer
) strict;

-- Secrets that jobs name in their environment. sealed: AES-256-GCM, in base64; the key is not in the database.
create table secret (
  name text primary key,
  key_id text not null,
  sealed text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

-- Tokens of the API. Of a name, one is valid, or two after a rotation: the older one has replaced_at.
create table token (
  id integer primary key autoincrement,
  name text not null,
  role text not null,
  queues text,
  hash text not null unique,
  created_at integer not null,
  created_by text not null,
  expires_at integer,
  replaced_at integer,
  revoked_at integer,
  last_used_at integer
) strict;
create unique index token_name on token (name) where replaced_at is null and revoked_at is null;

-- Sessions of the dashboard, links that open one, tickets for downloads.
create table session (
  hash text primary key,
  kind text not null,
  caller text not null,
  request text,
  created_at integer not null,
  seen_at integer not null,
  expires_at integer not null
) strict, without rowid;

-- Who changed what through the API. A row is written before the change; status is null until its result is known.
create table audit (
  id integer primary key autoincrement,
  at integer not null,
  actor text not null,
  address text not null,
  action text not null,
  path text not null,
  status integer,
  request_id text not null
) strict;

-- INDEXES --------------------------------------------------------------------------------------------------------------

-- The changes of one job, for its history.
create index audit_path on audit (path);

-- Lists by name, queue and tags. The claim reads none of these.
create index job_name on job (name, id) where name is not null;
create index job_queue on job (queue, id);
create index job_unique_key on job (json_extract(spec, '$.unique_key'), id) where instr(spec, '"unique_key"') > 0;
create index job_tagged on job (id) where tags <> '[]';
create index job_workflow on job (workflow_id, id) where workflow_id is not null;
create unique index job_item on job (group_id, group_index) where group_id is not null;

-- The order in which a lane's jobs are claimed.
create index live_pending on live (lane, rank, turn, due, job_id) where status = 'pending';
create index live_fair on live (lane, rank, fair_key, turn) where status = 'pending' and fair_key is not null;
create index metered_start_job on metered_start (job_id);
create index parking_opens on parking (opens_at);
create index live_scheduled on live (due, job_id) where status = 'scheduled';
create index live_running on live (worker_id) where status = 'running';
create index live_expires on live (expires_at) where expires_at is not null;
create index live_line on live (line) where line is not null;

-- With ended_at, runs that are old enough to prune are found without reading the rows.
create index run_final on run (status, job_id, ended_at) where status is not null;
-- Jobs that are done have no reason, so that their ends need not write here.
create index run_reason on run (reason, job_id) where reason is not null;
create index unique_key_job on unique_key (job_id);
create index unique_key_expires on unique_key (expires_at) where expires_at is not null;
create index idempotency_created on idempotency (created_at);

create index edge_parent on edge (parent_id, child_id);
create index workflow_status on workflow (status, id);
create index workflow_definition on workflow (definition, id) where definition is not null;
create index workflow_line on workflow (line) where line is not null and ended_at is null;
create index job_group_needs_items on job_group (job_id) where needs_items = 1;

create index schedule_line_due on schedule_line (next_due, id) where next_due is not null;
create unique index tick_once on tick (schedule_id, key, scheduled_for, kind) where kind <> 'manual';
create index tick_ledger on tick (schedule_id, id);
create index tick_created on tick (created_at);
create index tick_stops on tick (id) where stops is not null;
create index tick_job on tick (job_id) where job_id is not null;
create index tick_workflow on tick (workflow_id) where workflow_id is not null;

create index notice_look on notice (coalesce(look_at, due), id);
-- Missed ticks of one schedule share one notice until it is delivered.
create unique index notice_missed on notice (schedule) where kind = 'missed';
create index notification_job on notification (subject_job_id) where subject_job_id is not null;
create index notification_workflow on notification (workflow_id) where workflow_id is not null;
create index notification_schedule on notification (schedule) where schedule is not null;
