-- Who performs which duty, and which processes there are. A file has one owner, so these tables only say so.

-- One row per duty. number is part two of the duty's lock key where there are such locks; here there are none. The term
-- rises whenever the duty is taken.
create table leader (
  duty text primary key,
  number integer not null unique,
  instance_id text not null,
  term integer not null,
  expires_at integer not null,
  locked integer not null
) strict;

-- One row per process, renewed every beat_ms.
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
