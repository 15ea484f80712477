-- Schedules, what each does for each of its keys, and the ledger of their ticks.

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

-- One line per key ('' where there are none): up to which tick it has been judged, and when the next one is due.
-- tail: the newest row of the ledger, to which further ticks with its verdict are added.
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
create index schedule_line_due on schedule_line (next_due, id) where next_due is not null;

-- Every tick has one row, or is covered by one (scheduled_for … through). stops: runs that this one replaced, until they
-- have been asked to stop.
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
  stops text
) strict;
create unique index tick_once on tick (schedule_id, key, scheduled_for, kind) where kind <> 'manual';
create index tick_ledger on tick (schedule_id, id);
create index tick_created on tick (created_at);
create index tick_stops on tick (id) where stops is not null;

-- Which line an unfinished job or workflow runs for.
alter table live add column line integer;
create index live_line on live (line) where line is not null;
alter table workflow add column line integer;
create index workflow_line on workflow (line) where line is not null and ended_at is null;
