import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob, anOffer, aStep, aWorkflow } from '../../contract/kit/builders.ts';
import { claim, forever, register, submit, submitOne } from '../../contract/kit/steps.ts';
import { leftBehind, stranded, type Tables } from './stranded.ts';
import { STORES_WITH_TABLES } from './with-tables.ts';

/** The faults, and what each is found as. All tables are as they should be before. */
const FAULTS: [statement: string, found: string][] = [
  ['delete from @metered_start', 'a limit with room is closed: limit:k'],
  ['delete from @parking', 'a job waits in a lane that does not exist'],
  ['delete from @edge', 'a job is blocked by nothing'],
  ['delete from @live where job_id in (select id from @job where group_id is not null)', 'a group waits for no item'],
  ['update @workflow set open_steps = 0', 'a workflow counts steps that it does not have'],
  ['update @unique_key set job_id = 0', 'a key is held by no job: u'],
  [
    `update @live set turn = 9007199254740991 where job_id in (select id from @job where name = 'later')`,
    'a turn waits behind nothing',
  ],
];

const LEFT: [statement: string, found: string][] = [
  [
    `insert into @place (job_id, gang_id, rank, size, accepted, started, until) select 0, 'g', 0, 1, accepted, accepted, until
      from (select renewed_at as until, renewed_at < renewed_at as accepted from @reservation) r`,
    'places of a gang without unfinished jobs: g',
  ],
  [`insert into @cascade (job_id, mode) values (7, 'ended')`, 'an end that was not propagated: 7'],
  [`insert into @intake (job_id, kind, request) values (8, 'ended', '{}')`, 'an end or a job that was not adopted: 8'],
];

for (const [driver, open] of Object.entries(STORES_WITH_TABLES)) {
  const tables = async () => {
    const given = await open();
    const { store, ask } = given;
    const limits = [{ key: 'k', max: 1 }];
    const group = aStep('group', { forEach: { items: [1], maxParallel: null } });
    await store.insertWorkflow(aWorkflow([group, aStep('after', { parents: [0] })]), {}, forever);
    await store.expand(10, forever);
    const { id } = await register(store, { resources: { gpu: 2 } });
    await submit(store, [aJob({ limits }), aJob({ limits }), aJob({ resources: { gpu: 1 }, queue: 'gpu' })]);
    await submitOne(
      store,
      aJob({ name: 'later', queue: 'other', unique: { key: 'u', while: 'active', onConflict: 'existing' } }),
    );
    const offer = anOffer({ free: { gpu: 2 }, queues: ['default', 'gpu'] });
    assert.equal((await claim(store, id, { offer })).length, 3);
    await submitOne(store, aJob({ resources: { gpu: 2 }, queue: 'gpu' }));
    assert.deepEqual(await claim(store, id, { offer: anOffer({ free: { gpu: 1 }, queues: ['default', 'gpu'] }) }), []);
    const asked: Tables = { driver: driver as Tables['driver'], ask };
    return { ...given, tables: asked };
  };

  for (const [statement, found] of FAULTS) {
    test(`stranded: on ${driver}, it is found that ${found.split(':')[0]}`, async () => {
      await using given = await tables();
      assert.deepEqual(await stranded(given.tables), []);
      await given.ask(statement);
      const all = await stranded(given.tables);
      assert.ok(
        all.some((each) => each.startsWith(found)),
        JSON.stringify(all),
      );
    });
  }

  for (const [statement, found] of LEFT) {
    test(`stranded: on ${driver}, there is left behind ${found.split(':')[0]} (${statement.slice(0, 18)})`, async () => {
      await using given = await tables();
      assert.deepEqual(await leftBehind(given.tables), []);
      await given.ask(statement);
      const all = await leftBehind(given.tables);
      assert.ok(all.length === 1 && all[0]?.startsWith(found), JSON.stringify(all));
    });
  }
}
