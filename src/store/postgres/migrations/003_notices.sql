-- Who is told of ends. `notice` is what is still to be told, written with the end; `notification` what was sent, by the job that
-- carries it; `alarm` the subjects that failed last.
-- live.flags now also: 128 somebody wants to hear of its failure, 256 of its success; rows with 256 take a transaction.

alter table workron.workflow add column notify jsonb;

create table workron.notice (
  id bigint generated always as identity primary key,
  kind text not null,
  due timestamptz(3) not null,
  created_at timestamptz(3) not null,
  job_id bigint,
  workflow_id bigint,
  status text,
  schedule text,
  detail jsonb not null
);
create index notice_due on workron.notice (due, id);

create table workron.notification (
  job_id bigint primary key,
  event text not null,
  subject_job_id bigint,
  workflow_id bigint,
  schedule text,
  created_at timestamptz(3) not null
);
create index notification_job on workron.notification (subject_job_id) where subject_job_id is not null;
create index notification_workflow on workron.notification (workflow_id) where workflow_id is not null;
create index notification_schedule on workron.notification (schedule) where schedule is not null;

create table workron.alarm (
  subject text primary key,
  raised_at timestamptz(3) not null
);
