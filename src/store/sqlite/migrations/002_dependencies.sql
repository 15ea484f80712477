-- Dependencies, workflows, and steps that are repeated for each item of a list.

alter table job add column workflow_id integer;
alter table job add column step_key text;
alter table job add column group_id integer;
alter table job add column group_index integer;
alter table job add column rerun_of integer;
create index job_workflow on job (workflow_id, id) where workflow_id is not null;
create unique index job_item on job (group_id, group_index) where group_id is not null;

-- How a job's dependencies stand; null for a job without any, and then they take no room.
-- flags now: 1 has children, 2 is a group, 4 belongs to a workflow, 8 holds a unique key, 16 has parents, 32 is an item,
-- 64 was asked to stop without a cascade. Rows with none but 8 and 16 settle by themselves.
alter table live add column open_edges integer;
alter table live add column held_edges integer;
alter table live add column broken_edges integer;
alter table live add column missed_edges integer;

-- state: open, held, impossible.
create table edge (
  child_id integer not null,
  parent_id integer not null,
  condition text not null,
  state text not null,
  primary key (child_id, parent_id)
) strict, without rowid;
create index edge_parent on edge (parent_id, child_id);

-- Ended or reopened jobs whose out-edges are still to be judged. mode: ended, cancelled (with those who wait in vain), reopened.
create table cascade (
  job_id integer primary key,
  mode text not null
) strict;

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
  cancelled_steps integer not null default 0
) strict;
create index workflow_status on workflow (status, id);

-- A step that is repeated for each item. source: the list, or the parent's id and a path into its result; items is the list
-- and total its length once it is known. due: the expander has something to do.
create table fan (
  job_id integer primary key,
  source text not null,
  items text,
  total integer,
  max_parallel integer,
  due integer not null default 0,
  inserted integer not null default 0,
  open_items integer not null default 0,
  fine_items integer not null default 0,
  failed_items integer not null default 0,
  cancelled_items integer not null default 0
) strict;
create index fan_due on fan (job_id) where due = 1;
