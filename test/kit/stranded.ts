/**
 * What waits in the tables for something that nobody will do: no closed parking, blocked job, group, workflow, key or place
 * without somebody who holds it. `stranded` is empty after every commit; `leftBehind` is so once the duties had their rounds.
 */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import type { TestStore } from '../../contract/kit/store.ts';
import { FLAG } from '../../src/store/flags.ts';
import { type AskTables, askPostgres, askSqlite } from './with-tables.ts';

export interface Tables {
  driver: 'sqlite' | 'postgres';
  ask: AskTables;
}

/** Predicates of live rows `l` that the databases write in different ways. */
const DIALECTS = {
  sqlite: {
    never: '9007199254740991',
    runs: `l.status = 'running'`,
    isGroup: `l.status = 'running'`,
    pending: `l.status = 'pending'`,
    blocked: `l.status = 'blocked'`,
  },
  postgres: {
    never: `'infinity'`,
    runs: 'l.claimed',
    isGroup: `l.listed_as = 'running' and not l.claimed`,
    pending: `l.listed_as = 'pending' and not l.claimed`,
    blocked: `l.listed_as = 'blocked' and not l.claimed`,
  },
} as const;

type Dialect = (typeof DIALECTS)[Tables['driver']];

const edgesOf = (other: string) =>
  `(select 1 from @edge e join @${other} o on o.job_id = e.parent_id where e.child_id = l.job_id)`;

function strandedIn({ never, runs, isGroup, pending, blocked }: Dialect): Record<string, string> {
  const running = `(select count(*) from @metered_start s join @live l on l.job_id = s.job_id and l.attempt = s.attempt
    where s.name = p.meter and ${runs})`;
  const steps = `(select count(*) from @job j join @live l on l.job_id = j.id where j.workflow_id = w.id and j.group_id is null)`;
  return {
    'a limit with room is closed': `select p.meter from @parking p where p.opens_at = ${never} and not p.skips
      and ${running} < coalesce((select m.max from @meter m where m.name = p.meter), cast(p.rule as integer))
      and not exists (select 1 from @metered_start s join @intake i on i.job_id = s.job_id where s.name = p.meter)`,
    'a job waits in a lane that does not exist': `select l.job_id from @live l
      where l.flags & ${FLAG.unjudged} = 0 and not exists (select 1 from @any_lane n where n.id = l.lane)`,
    'a job is blocked by nothing': `select l.job_id from @live l where ${blocked} and l.flags & ${FLAG.unjudged} = 0
      and not exists ${edgesOf('live')} and not exists ${edgesOf('cascade')} and not exists ${edgesOf('intake')}
      and not exists (select 1 from @place p where p.job_id = l.job_id and p.success is not null)`,
    'a group waits for no item': `select g.job_id from @job_group g join @live l on l.job_id = g.job_id
      where ${isGroup} and not g.needs_items and not exists (
        select 1 from @job j join @live o on o.job_id = j.id where j.group_id = g.job_id)
      and not exists (select 1 from @job j join @intake i on i.job_id = j.id where j.group_id = g.job_id)`,
    'a workflow counts steps that it does not have': `select w.id from @workflow w
      where (w.open_steps <> ${steps} or (w.ended_at is null and w.open_steps = 0)) and not exists (
        select 1 from @job j join @intake i on i.job_id = j.id where j.workflow_id = w.id)`,
    'a key is held by no job': `select u.key from @unique_key u where u.hold in ('pending', 'active') and not exists (
      select 1 from @live l where l.job_id = u.job_id and (u.hold = 'active' or not (${runs})))`,
    'a turn waits behind nothing': `select l.job_id from @live l where ${pending} and l.turn >= ${2 ** 52}`,
  };
}

/** A reservation counts only while its worker renews it: a row that is left holds nothing. */
const LEFT_BEHIND = {
  'places of a gang without unfinished jobs': `select p.gang_id from @place p group by p.gang_id
      having count((select 1 from @live l where l.job_id = p.job_id)) = 0`,
  'an end that was not propagated': 'select c.job_id from @cascade c',
  'an end or a job that was not adopted': 'select i.job_id from @intake i',
};

/** One statement, and so one moment. */
async function ask({ ask: rows }: Tables, rules: Record<string, string>): Promise<string[]> {
  const texts = Object.values(rules);
  const parts = texts.map((text, n) => `found_${n}(it) as (${text})`);
  const all = Object.keys(rules).map((what, n) => `select '${what}' as what, cast(it as text) as it from found_${n}`);
  const found = await rows<{ what: string; it: string }>(`with ${parts.join(', ')} ${all.join(' union all ')}`);
  return found.map(({ what, it }) => `${what}: ${it}`);
}

export function stranded(tables: Tables): Promise<string[]> {
  return ask(tables, strandedIn(DIALECTS[tables.driver]));
}

export function leftBehind(tables: Tables): Promise<string[]> {
  return ask(tables, LEFT_BEHIND);
}

/** The tables of a store that is open. */
function tablesOf(given: TestStore & { schema?: string; query?: AskTables }): Tables & Disposable {
  const { store, schema, query } = given;
  if (schema !== undefined && query !== undefined) {
    return { driver: 'postgres', ask: askPostgres({ schema, query }), [Symbol.dispose]: () => undefined };
  }
  const database = new DatabaseSync(store.location, { readOnly: true });
  return { driver: 'sqlite', ask: askSqlite(database), [Symbol.dispose]: () => database.close() };
}

/** The store with a look at its tables when a test is over: whatever it did, nothing is stranded. */
export async function checkedAtEnd<T extends TestStore & { schema?: string; query?: AskTables }>(
  opening: Promise<T>,
): Promise<T> {
  const given = await opening;
  return {
    ...given,
    async [Symbol.asyncDispose]() {
      try {
        using tables = tablesOf(given);
        assert.deepEqual(await stranded(tables), []);
      } finally {
        await given[Symbol.asyncDispose]();
      }
    },
  };
}
