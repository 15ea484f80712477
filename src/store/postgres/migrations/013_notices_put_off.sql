-- A notice that cannot be told is looked at again later. `due` stays: it says since when a run is late.
alter table workron.notice add column look_at timestamptz(3);
create index notice_look on workron.notice ((coalesce(look_at, due)), id);
drop index workron.notice_due;
