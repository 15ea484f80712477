/** What may pile up beside the jobs that are worked on, written straight into the tables: millions take minutes otherwise. */

import type pg from 'pg';

export interface Pile {
  title: string;
  /** Last to first, at most. */
  most: number;
  /** How many, from few to many. */
  sizes: readonly number[];
  add: (client: pg.Client, count: number) => Promise<void>;
}

/** Jobs in the state given, in a queue and lane that nobody serves, or behind what is worked on. */
function jobsThat(status: 'pending' | 'scheduled' | 'blocked', due: string): Pile['add'] {
  return async (client, count) => {
    await client.query(
      `with input as (select nextval('workron.job_id') as id from generate_series(1, ${count})),
        jobs as (insert into workron.job (id, queue, kind, name, priority, tags, created_at, spec)
          select id, 'default', 'noop', null, -1, '{}', workron.now(), '{}' from input)
      insert into workron.live (job_id, status, lane, rank, due)
      select id, '${status}', (select min(id) from workron.lane where queue = 'default'), 1, ${due} from input`,
    );
  };
}

async function addEnded(client: pg.Client, count: number): Promise<void> {
  await client.query(
    `with input as (select nextval('workron.job_id') as id from generate_series(1, ${count})),
      jobs as (insert into workron.job (id, queue, kind, name, priority, tags, created_at, spec)
        select id, 'default', 'noop', null, 0, '{}', workron.now(), '{}' from input)
    insert into workron.run (job_id, attempt, status, outcome, worker_id, started_at, ended_at, due, attempts, failures,
      interruptions, snoozes, losses)
    select id, 1, 'done', 'done', 1, workron.now(), workron.now(), workron.now(), 1, 0, 0, 0, 0 from input`,
  );
}

export const PILES: readonly Pile[] = [
  { title: 'pending behind', most: 1.15, sizes: [10_000, 1_000_000], add: jobsThat('pending', 'workron.now()') },
  { title: 'ended and kept', most: 1.15, sizes: [10_000, 5_000_000], add: addEnded },
  {
    title: 'due later',
    most: 1.15,
    sizes: [10_000, 1_000_000],
    add: jobsThat('scheduled', `workron.now() + interval '1 day'`),
  },
  { title: 'blocked', most: 1.15, sizes: [1_000, 100_000], add: jobsThat('blocked', 'workron.now()') },
];
