-- Dependencies, workflows, and steps that are repeated for each item of a list.

alter table workron.job
  add column workflow_id bigint,
  add column step_key text,
  add column group_id bigint,
  add column group_index integer,
  add column rerun_of bigint;
create index job_workflow on workron.job (workflow_id, id) where workflow_id is not null;
create unique index job_item on workron.job (group_id, group_index) where group_id is not null;

-- How a job's dependencies stand; null for a job without any, and then they take no room.
-- flags now: 1 has children, 2 is a group, 4 belongs to a workflow, 8 holds a unique key, 16 has parents, 32 is an item,
-- 64 was asked to stop without a cascade. Rows with none but 8 and 16 settle in one statement.
alter table workron.live
  add column open_edges integer,
  add column held_edges integer,
  add column broken_edges integer,
  add column missed_edges integer;

-- state: open, held, impossible.
create table workron.edge (
  child_id bigint not null,
  parent_id bigint not null,
  condition text not null,
  state text not null,
  primary key (child_id, parent_id)
);
create index edge_parent on workron.edge (parent_id, child_id);

-- Ended or reopened jobs whose out-edges are still to be judged. mode: ended, cancelled (with those who wait in vain), reopened.
create table workron.cascade (
  job_id bigint primary key,
  mode text not null
);

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
  cancelled_steps integer not null default 0
);
create index workflow_status on workron.workflow (status, id);

-- A step that is repeated for each item. source: the list, or the parent's id and a path into its result; items is the list
-- once it is known. due: the expander has something to do.
create table workron.fan (
  job_id bigint primary key,
  source jsonb not null,
  items jsonb,
  max_parallel integer,
  due boolean not null default false,
  inserted integer not null default 0,
  open_items integer not null default 0,
  fine_items integer not null default 0,
  failed_items integer not null default 0,
  cancelled_items integer not null default 0
);
create index fan_due on workron.fan (job_id) where due;
