-- Schedules, what each does for each of its keys, and the ledger of their ticks.

-- The row is the schedule's lock: whoever judges its ticks, runs it by hand or changes it holds it.
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

-- One line per key ('' where there are none): up to which tick it has been judged, and when the next one is due.
-- tail: the newest row of the ledger, to which further ticks with its verdict are added.
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
create index schedule_line_due on workron.schedule_line (next_due, id) where next_due is not null;

-- Every tick has one row, or is covered by one (scheduled_for … through). stops: runs that this one replaced, until they
-- have been asked to stop.
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
  stops jsonb
);
create unique index tick_once on workron.tick (schedule_id, key, scheduled_for, kind) where kind <> 'manual';
create index tick_ledger on workron.tick (schedule_id, id);
create index tick_created on workron.tick (created_at);
create index tick_stops on workron.tick (id) where stops is not null;

-- Which line an unfinished job or workflow runs for.
alter table workron.live add column line bigint;
create index live_line on workron.live (line) where line is not null;
alter table workron.workflow add column line bigint;
create index workflow_line on workron.workflow (line) where line is not null and ended_at is null;
