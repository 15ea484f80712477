-- run.told: whoever waited for this job has heard of its success, so an edge from it that says `open` holds. Where many wait,
-- that is one row written instead of many.
-- live.flags now also: 2048 known to have no start_timeout.
alter table run add column told integer;
