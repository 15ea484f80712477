-- Who is told of ends. `notice` is what is still to be told, written with the end; `notification` what was sent, by the job that
-- carries it; `alarm` the subjects that failed last.
-- live.flags now also: 128 somebody wants to hear of its failure, 256 of its success.

alter table workflow add column notify text;

create table notice (
  id integer primary key autoincrement,
  kind text not null,
  due integer not null,
  created_at integer not null,
  job_id integer,
  workflow_id integer,
  status text,
  schedule text,
  detail text not null
) strict;
create index notice_due on notice (due, id);

create table notification (
  job_id integer primary key,
  event text not null,
  subject_job_id integer,
  workflow_id integer,
  schedule text,
  created_at integer not null
) strict;
create index notification_job on notification (subject_job_id) where subject_job_id is not null;
create index notification_workflow on notification (workflow_id) where workflow_id is not null;
create index notification_schedule on notification (schedule) where schedule is not null;

create table alarm (
  subject text primary key,
  raised_at integer not null
) strict, without rowid;
