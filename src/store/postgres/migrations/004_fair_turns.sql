-- Queues whose jobs take turns by key, from their first job with a key on. The row is the lock under which turns are given.
create table workron.fair_queue (
  name text primary key
);

-- The key whose turn a claimable job has: its own, '' for those without one, null where it was given none.
alter table workron.live add column fair_key text;
create index live_fair on workron.live (lane, rank, fair_key, turn) where status = 'pending' and fair_key is not null;
