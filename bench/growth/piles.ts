/** Rows that may pile up next to the active jobs, written directly to the tables: submitting millions takes minutes. */

import { NEVER } from '../../src/core/never.ts';
import { noop } from '../scene.ts';
import { fillPostgres, WORKERS } from '../ui/million.ts';
import { registerWorker } from './drain.ts';
import type { Grounds } from './grounds.ts';

export interface Pile {
  name: string;
  title: string;
  /** The small and the large number of rows. */
  few: number;
  many: number;
  add: (grounds: Grounds, schema: string, count: number) => Promise<void>;
}

const PIECE = 100_000;
/** Inserts jobs in the given state, behind the active jobs. */
function jobsThat(status: 'pending' | 'scheduled' | 'blocked', due: string): Pile['add'] {
  return async (grounds, schema, count) => {
    const { client } = grounds;
    {
      // Creates the lane of the pile.
      await using store = await grounds.open(schema);
      await store.insert([noop()], {}, NEVER);
    }
    for (let made = 0; made < count; made += PIECE) {
      await client.query(
        `with input as (select nextval('${schema}.job_id') as id from generate_series(1, ${Math.min(PIECE, count - made)})),
          jobs as (insert into ${schema}.job (id, queue, kind, name, priority, tags, created_at, spec)
            select id, 'default', 'noop', null, -1, '{}', ${schema}.now(), '{}' from input)
        insert into ${schema}.live (job_id, listed_as, lane, rank, due)
        select id, '${status}', (select min(id) from ${schema}.lane where queue = 'default'), 1, ${due} from input`,
      );
    }
  };
}

export const PENDING: Pile = {
  name: 'pending',
  title: 'pending behind',
  few: 10_000,
  many: 1_000_000,
  add: jobsThat('pending', 'clock_timestamp()'),
};

export const ENDED: Pile = {
  name: 'ended',
  title: 'ended and kept',
  few: 10_000,
  many: 5_000_000,
  add: async (grounds, schema, count) => {
    {
      await using store = await grounds.open(schema);
      for (let worker = 0; worker < WORKERS; worker += 1) await registerWorker(store);
    }
    await fillPostgres(grounds.url, schema, count);
  },
};

export const LATER: Pile = {
  name: 'later',
  title: 'due later',
  few: 10_000,
  many: 1_000_000,
  add: jobsThat('scheduled', `clock_timestamp() + interval '1 day'`),
};

export const BLOCKED: Pile = {
  name: 'blocked',
  title: 'blocked',
  few: 1_000,
  many: 100_000,
  add: jobsThat('blocked', 'clock_timestamp()'),
};

/** Returns a schema with this pile; the same one for every call. */
export async function piled(grounds: Grounds, pile: Pile, count: number): Promise<string> {
  const schema = `${pile.name}_${count}`;
  if (!grounds.filled.has(schema)) {
    await (await grounds.open(schema))[Symbol.asyncDispose]();
    const startedAt = performance.now();
    await pile.add(grounds, schema, count);
    await grounds.client.query(
      `vacuum analyze ${['live', 'job', 'run'].map((table) => `${schema}.${table}`).join(', ')}`,
    );
    console.error(`${schema} filled in ${Math.round((performance.now() - startedAt) / 1_000)} s`);
    grounds.filled.set(schema, schema);
  }
  return schema;
}
