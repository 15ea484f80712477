-- live.flags now also: 512 it starts when it is claimed, never prefetched. A running job without started_at was prefetched
-- and waits at its worker.
update workron.live l set flags = l.flags | 512 from workron.job j
  where j.id = l.job_id and (j.spec ->> 'rerun' = 'never' or (j.spec -> 'max_attempts')::integer <= 1);
