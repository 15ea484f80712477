-- A notice that cannot be told is looked at again later. `due` stays: it says since when a run is late.
alter table notice add column look_at integer;
create index notice_look on notice (coalesce(look_at, due), id);
drop index notice_due;
