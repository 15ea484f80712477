-- What applications do in transactions of their own, and what a running attempt tells of itself.

-- Of the latest attempt that told something. `checkpoint` outlives it: the next attempt goes on from there.
create table progress (
  job_id integer primary key,
  attempt integer not null,
  fraction real,
  note text,
  checkpoint text
) strict;

-- Left by an application's transaction for whoever comes first after its commit.
-- kind: 'submitted' (wish: {"depends_on": [[parent, condition], …]}), 'ended' (wish: {"flags": n}).
create table intake (
  job_id integer primary key,
  kind text not null,
  wish text not null
) strict;

-- Flag 1024 of live: submitted, but not judged. Such a job is blocked, and its lane is 0 for not known.
