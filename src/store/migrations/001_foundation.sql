-- The tables and indexes that both databases have, in PostgreSQL's types; src/store/migration.ts makes SQLite's of them. Each database's
-- own part, in its folder, follows. `workron.` stands for the installation's schema.
-- Instants have milliseconds, as everywhere in Workron. There are no foreign keys; the code that deletes a job deletes its rows in
-- the other tables. Export and restore rely on the order of the columns.

-- INSTALLATION ---------------------------------------------------------------------------------------------------------

-- One row about the installation. Code below min_code must not use it. foundation: the fingerprint of the first migration.
-- lock_space is the first half of every advisory lock key on PostgreSQL, and part of the channel's name: locks and channels belong to a
-- database, not to a schema. home is the name under which a file is used: its write-ahead log and the lock of its owner lie beside it.
-- promoted_to is set once the file was moved to PostgreSQL: nothing starts on it any more; promoted_as is the lock_space there. Tests
-- move clock_offset_ms.
create table workron.meta (
  "only" boolean primary key default true check ("only"), -- PostgreSQL only
  only integer primary key default 1 check (only = 1), -- SQLite only
  schema_version integer not null,
  min_code integer not null,
  foundation text,
  lock_space integer not null,
  home text,
  promoted_to text, -- SQLite only
  promoted_as integer, -- SQLite only
  clock_offset_ms bigint not null default 0
);

-- One row per process, renewed every beat_ms. A file has one owner, so there is one row.
create table workron.instance (
  id text primary key,
  host text not null,
  pid integer not null,
  roles jsonb not null,
  version text not null,
  url text,
  beat_ms integer not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);

-- One row per duty. The term rises each time the duty is taken. On PostgreSQL, number is the second half of the duty's advisory lock
-- key. locked: the leader's session holds that lock; a leader without it leads until expires_at.
create table workron.leader (
  duty text primary key,
  number integer not null unique,
  instance_id text not null,
  term bigint not null,
  expires_at timestamptz(3) not null,
  locked boolean not null
);

-- Registered workers.
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
-- On PostgreSQL, a transaction that writes gangs or places locks the table place.
create table workron.gang (
  id text collate "C" primary key,
  job_id bigint not null,
  term integer not null,
  failures integer not null,
  charged integer not null,
  stops integer not null,
  stopping boolean not null
); -- SQLite: without rowid

-- QUEUES ---------------------------------------------------------------------------------------------------------------

-- Queues with settings. A queue without a row is not paused and has no limit. rate: {"limit", "perMs", "burst"}. Its starts are
-- rows of metered_start under the name 'queue:' with the queue's.
create table workron.queue (
  name text primary key,
  paused_at timestamptz(3),
  max_running integer,
  rate jsonb
); -- SQLite: without rowid

-- Queues whose jobs take turns by fair key, from their first job with a key on. On PostgreSQL, the row is the lock under
-- which turns are given.
create table workron.fair_queue (
  name text primary key
);

-- One combination of queue, kind, required tags and resources. key is its canonical text. gang: its jobs are members of gangs.
-- unused_mark: it seemed unused then, and no job has been inserted since; it is deleted some hours later.
create table workron.lane (
  id integer primary key generated always as identity,
  key text not null unique,
  queue text not null,
  gang boolean not null,
  unused_mark bigint
);

-- Limits and rates by name: 'limit:' or 'rate:' with the key. max: a limit that a person has set, for all jobs with the key.
-- opens_at: a rate that was closed opens then. window_ms: the longest window that a job has asked for. On PostgreSQL, the row is the
-- lock under which jobs with the key start.
create table workron.meter (
  name text collate "C" primary key,
  max integer,
  opens_at timestamptz(3),
  window_ms bigint not null default 0
); -- SQLite: without rowid

-- One row per attempt and meter. A limit counts the attempts that their live row still shows as running, so a row that is
-- left over counts nothing. A rate counts the starts within its window.
create table workron.metered_start (
  name text collate "C" not null,
  at timestamptz(3) not null,
  job_id bigint not null,
  attempt integer not null,
  primary key (name, at, job_id, attempt)
); -- SQLite: without rowid

-- Pending jobs of one lane that wait for one meter with one rule. Their live rows have -id instead of the lane, so that
-- claims do not read past them. Rows change under the lock of their meter. opens_at: claims look at the parking from then on; on
-- PostgreSQL -infinity for now and infinity until a running job ends, on SQLite 0 and 9007199254740991. skips: its jobs do not wait,
-- they end as skipped.
create table workron.parking (
  id integer primary key generated always as identity,
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

-- live: one narrow row per unfinished job, its state and its place in the order. Each database has its own, whose columns stand as its
-- claims need them.
--
-- flags (src/store/flags.ts): 1 has children, 2 is a group, 4 belongs to a workflow, 8 holds a unique key, 16 has parents,
-- 32 is an item of a group, 64 was asked to stop without its dependents, 128 notifies of failure, 256 notifies of success,
-- 512 is never prefetched (PostgreSQL only: SQLite reads the job's spec instead), 1024 was inserted by an application's transaction and
-- not judged since (blocked; lane may be 0 for unknown), 2048 has no start timeout, 4096 has limits, 8192 needs all members of its
-- gang, 16384 was asked to stop with its gang, 32768 notifies of a cancel, 65536 came back from a lost worker that had not reported
-- its start, 131072 has steps, 262144 is suspended unless it is claimable or runs.
-- started_at: null while the job is running means that it was prefetched and has not started.
-- *_edges: the edges to its parents by state; null for a job without parents.
-- fair_key: the key whose turn a claimable job has; '' for jobs without a key, null if it was given no turn.
-- line: the schedule line that the job runs for.

-- run: every ended attempt, appended once. Each database has its own order of the columns. The row that ended the job has its status,
-- reason and counters; a retry by a person takes them back. A job that ended without an attempt has a row with attempt 0, deleted by a
-- retry. propagated: the job's success has reached its children, so an edge from it with state `open` counts as held. For a job with
-- many children, one row is written instead of many.

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

-- Steps: what the function of a job has finished, and what it waits for. One row per name. kind: step, sleep. seq: rises with each
-- write of a row of the job, so that rows which ended later have higher ones. tries: failed tries of a step that is tried again at
-- "until". ended_at: null while it is awaited. result: JSON as text, whose order of keys a function may depend on; 'sealed:' with an
-- encrypted one.
create table workron.step (
  job_id bigint not null,
  name text collate "C" not null,
  kind text not null,
  seq integer not null,
  attempt integer not null,
  tries integer not null,
  started_at timestamptz(3) not null,
  ended_at timestamptz(3),
  until timestamptz(3),
  result text,
  thrown jsonb,
  primary key (job_id, name)
); -- SQLite: without rowid

-- Jobs that have steps: how many, the bytes of their results, the last seq. first_due: when the job was first due, by which it keeps
-- its place. failures: those of the job that no longer count, because a step has ended since. unused: names that the function did not
-- ask for when it ended.
create table workron.durable (
  job_id bigint primary key,
  first_due timestamptz(3) not null,
  steps integer not null,
  bytes bigint not null,
  seq integer not null,
  failures integer not null,
  unused jsonb
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
); -- SQLite: without rowid

-- Answers to requests with an idempotency key.
create table workron.idempotency (
  key text primary key,
  fingerprint text not null,
  answer jsonb not null,
  created_at timestamptz(3) not null
); -- SQLite: without rowid

-- Jobs that applications inserted or completed in their own transactions. Such a transaction neither waits for others nor
-- makes them wait, so everything that needs locks is done after its commit, by the first process that reads the row.
-- kind: 'submitted' (request: {"depends_on": [[parent, condition], …]}), 'ended' (request: {"flags": n}).
create table workron.intake (
  job_id bigint primary key,
  kind text not null,
  request jsonb not null
);

-- DEPENDENCIES AND WORKFLOWS -------------------------------------------------------------------------------------------

-- Edges. state: open, held, impossible. An edge is written once and closed once.
create table workron.edge (
  child_id bigint not null,
  parent_id bigint not null,
  condition text not null,
  state text not null,
  primary key (child_id, parent_id)
); -- SQLite: without rowid

-- Ended or reopened jobs whose out-edges are still to be judged. mode: ended, cancelled (with the dependents that can no
-- longer run), reopened.
create table workron.cascade (
  job_id bigint primary key,
  mode text not null
);

-- Workflows with the number of their steps by state. line: the schedule line that the workflow runs for.
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
); -- SQLite: without rowid

-- Groups: steps that are repeated for each item of a list. source: the list, or the parent's id and a path into its result.
-- items and total: the list and its length, once they are known. needs_items: the grapher has to insert items, or to end the group.
create table workron.job_group (
  job_id bigint primary key,
  source jsonb not null,
  items jsonb,
  total integer, -- SQLite only
  max_parallel integer,
  needs_items boolean not null default false,
  inserted integer not null default 0,
  open_items integer not null default 0,
  fine_items integer not null default 0,
  failed_items integer not null default 0,
  cancelled_items integer not null default 0
);

-- SCHEDULES ------------------------------------------------------------------------------------------------------------

-- Schedules. On PostgreSQL, the row is the schedule's lock: judging its ticks, running it by hand and changing it all take it.
create table workron.schedule (
  id bigint primary key generated always as identity,
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
);

-- One line per schedule and key ('' for a schedule without keys). cursor: the last tick that has been judged. next_due: when
-- the next one is due. tail: the newest row of the ledger, to which further ticks with the same verdict are added.
create table workron.schedule_line (
  id bigint primary key generated always as identity,
  schedule_id bigint not null,
  key text not null,
  cursor timestamptz(3) not null,
  next_due timestamptz(3),
  tail_id bigint,
  tail_verdict text,
  unique (schedule_id, key)
);

-- The ledger: every tick has one row, or is covered by one (scheduled_for … through). stops: the runs that this one
-- replaced, until they have been asked to stop. outcome: how its run ended, noted when retention deletes the run.
create table workron.tick (
  id bigint primary key generated always as identity,
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
  id bigint primary key generated always as identity,
  kind text not null,
  due_at timestamptz(3) not null,
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
  delivered_by bigint primary key,
  event text not null,
  job_id bigint,
  workflow_id bigint,
  schedule text,
  created_at timestamptz(3) not null
);

-- Subjects whose latest run failed.
create table workron.alarm (
  subject text primary key,
  raised_at timestamptz(3) not null
); -- SQLite: without rowid

-- STATISTICS AND BULK OPERATIONS ---------------------------------------------------------------------------------------

-- Ended attempts per minute, queue and outcome, as each process counted them. wait and run are histograms.
create table workron.stat (
  minute timestamptz(3) not null,
  instance_id text not null,
  queue text collate "C" not null,
  outcome text collate "C" not null,
  count bigint not null,
  wait jsonb not null,
  run jsonb not null,
  primary key (minute, queue, outcome, instance_id)
); -- SQLite: without rowid

-- Actions on all jobs that match a filter. cursor: the last job that was processed. asked_by: who, for the audit.
create table workron.operation (
  id bigint primary key generated always as identity,
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
  name text collate "C" primary key,
  key_id text not null,
  sealed text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

-- Tokens of the API. Of a name, one is valid, or two after a rotation: the older one has replaced_at.
create table workron.token (
  id integer primary key generated always as identity,
  name text collate "C" not null,
  role text not null,
  queues jsonb,
  hash text not null unique,
  created_at timestamptz(3) not null,
  created_by text not null,
  expires_at timestamptz(3),
  replaced_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3)
);
create unique index token_name on workron.token (name) where replaced_at is null and revoked_at is null;

-- Sessions of the dashboard, links that open one, tickets for downloads. One has either a token_id or, of the token in the
-- settings, the fingerprint `configured`. It counts only while that token is valid, and its parent exists.
create table workron.session (
  hash text primary key,
  kind text not null,
  token_id integer,
  configured text,
  parent text,
  request text,
  created_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
); -- SQLite: without rowid

-- Who decided what. A row is written before the change; result is null until it is known. part_of: the bulk action of a job's row.
create table workron.audit (
  id bigint primary key generated always as identity,
  at timestamptz(3) not null,
  actor text not null,
  address text not null,
  action text not null,
  subject text,
  result text,
  details jsonb,
  part_of bigint,
  request_id text not null
);

-- INDEXES --------------------------------------------------------------------------------------------------------------

-- The decisions about one job, for its history, and the jobs of one bulk action.
create index audit_subject on workron.audit (subject);
create index audit_part on workron.audit (part_of, id) where part_of is not null;
create index audit_at on workron.audit (at);

-- Lists by name and queue. The claim reads none of these.
create index job_name on workron.job (name, id) where name is not null;
create index job_queue on workron.job (queue, id);
create index job_workflow on workron.job (workflow_id, id) where workflow_id is not null;
create unique index job_item on workron.job (group_id, group_index) where group_id is not null;

create index metered_start_job on workron.metered_start (job_id);
create index unique_key_job on workron.unique_key (job_id);
create index unique_key_expires on workron.unique_key (expires_at) where expires_at is not null;
create index idempotency_created on workron.idempotency (created_at);

create index edge_parent on workron.edge (parent_id, child_id);
create index workflow_status on workron.workflow (status, id);
create index workflow_ended on workron.workflow (status, ended_at) where ended_at is not null;
create index workflow_definition on workron.workflow (definition, id) where definition is not null;
create index workflow_line on workron.workflow (line) where line is not null and ended_at is null;

create index schedule_line_due on workron.schedule_line (next_due, id) where next_due is not null;
create unique index tick_once on workron.tick (schedule_id, key, scheduled_for, kind) where kind <> 'manual';
create index tick_ledger on workron.tick (schedule_id, id);
create index tick_created on workron.tick (created_at);
create index tick_stops on workron.tick (id) where stops is not null;
create index tick_job on workron.tick (job_id) where job_id is not null;
create index tick_workflow on workron.tick (workflow_id) where workflow_id is not null;

create index notice_look on workron.notice ((coalesce(look_at, due_at)), id);
-- Missed ticks of one schedule share one notice until it is delivered.
create unique index notice_missed on workron.notice (schedule) where kind = 'missed';
create index alarm_raised on workron.alarm (raised_at);
create index notification_job on workron.notification (job_id) where job_id is not null;
create index notification_workflow on workron.notification (workflow_id) where workflow_id is not null;
create index notification_schedule on workron.notification (schedule) where schedule is not null;
