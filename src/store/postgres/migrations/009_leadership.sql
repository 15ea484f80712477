-- Who performs which duty, and which processes there are.

-- One row per duty. number is part two of the duty's lock key (part one is meta.lock_space). A leader whose session holds
-- that lock has `locked`; without it, its row alone says how long it leads. The term rises whenever the duty is taken.
create table workron.leader (
  duty text primary key,
  number integer not null unique,
  instance_id text not null,
  term bigint not null,
  expires_at timestamptz(3) not null,
  locked boolean not null
) with (fillfactor = 50);

-- One row per process, renewed every beat_ms.
create table workron.instance (
  id text primary key,
  host text not null,
  pid integer not null,
  roles text[] not null,
  version text not null,
  url text,
  beat_ms integer not null,
  started_at timestamptz(3) not null,
  seen_at timestamptz(3) not null
);
