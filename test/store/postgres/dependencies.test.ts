import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { aJob, aStep, aWorkflow, jobs } from '../../../contract/kit/builders.ts';
import { after, Hands, on, readWorkflow, settleDown, statuses, submitWorkflow } from '../../../contract/kit/graph.ts';
import { cancel, claim, forever, register, retry, submit, submitOne, success } from '../../../contract/kit/steps.ts';
import type { Job } from '../../../src/core/job.ts';
import { type Log, silentLog } from '../../../src/ops/log.ts';
import type { Store } from '../../../src/store/store.ts';
import { effort } from '../../effort.ts';
import { Child } from '../../kit/child.ts';
import { eventually } from '../../kit/eventually.ts';
import { openTestPostgres, type PostgresTestStore } from '../../kit/postgres.ts';

/** Rounds that are under way at the same time. */
const AT_ONCE = 20;

/** A store that tells of every transaction that had to give way to another. */
async function openWatched(options: { url?: string; schema?: string } = {}) {
  const deadlocks: string[] = [];
  const log: Log = { ...silentLog, warn: (fields, message) => deadlocks.push(`${message}: ${JSON.stringify(fields)}`) };
  const given = await openTestPostgres({ ...options, poolSize: 4, log });
  return { given, deadlocks };
}

/** Two processes' worth of connections to one schema, eight together. */
async function openTwo() {
  const stack = new AsyncDisposableStack();
  const here = await openWatched();
  stack.use(here.given);
  const there = await openWatched({ url: here.given.url, schema: here.given.schema });
  stack.use(there.given);
  return {
    given: here.given,
    here: here.given.store,
    there: there.given.store,
    deadlocks: () => [...here.deadlocks, ...there.deadlocks],
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A transaction of somebody else, open until it is let go, or until the test has failed: nobody waits for it longer. */
async function hold(
  { url }: PostgresTestStore,
  text: string,
): Promise<AsyncDisposable & { letGo: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('begin');
  await client.query(text);
  return {
    letGo: async () => void (await client.query('rollback')),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Until so many statements in this schema wait for a lock, and longer than an end does before it tries another way. */
async function waiters({ query, schema }: PostgresTestStore, count: number): Promise<void> {
  await eventually(async () => {
    const rows = await query(
      `select distinct a.pid from pg_stat_activity a join pg_locks k on k.pid = a.pid and not k.granted
      where position($1 in a.query) > 0 and clock_timestamp() - k.waitstart > interval '100 ms'`,
      [schema],
    );
    return rows.length >= count;
  });
}

const liveRow = ({ schema }: PostgresTestStore, { id }: { id: number }) =>
  `select 1 from "${schema}".live where job_id = ${id} for update`;

/** Runs `round` so often, several at a time. Those with the same number follow each other, so they may share queues. */
async function rounds(count: number, round: (line: number) => Promise<void>): Promise<void> {
  let left = count;
  const follow = async (_: unknown, line: number) => {
    while (left > 0) {
      left -= 1;
      await round(line);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, follow));
}

/** A worker of this store that has claimed a job nobody else can take. */
async function running(store: Store, queue: string): Promise<{ job: Job; done: (by: Store) => Promise<string> }> {
  const { id: workerId } = await register(store);
  const job = await submitOne(store, aJob({ queue }));
  const offer = { queues: [queue], commands: true, handlers: [], tags: [], free: {} };
  const [claimed] = await claim(store, workerId, { limit: 1, offer });
  assert.equal(claimed?.id, job.id);
  const success = { jobId: job.id, attempt: 1, workerId, exitCode: 0 };
  return { job, done: async (by) => ((await by.settle([success], forever))[0] ?? assert.fail()).result };
}

test('postgres: of two last parents that end in overlapping transactions, the second frees the child', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  const [first, second] = [await running(here, 'a'), await running(there, 'b')];
  const child = await submitOne(here, after([first.job, second.job]));
  await using gate = await hold(given, liveRow(given, child));
  const settling = [first.done(here), second.done(there)];
  await waiters(given, 2);
  await gate.letGo();
  assert.deepEqual(await Promise.all(settling), ['ok', 'ok']);
  assert.deepEqual(await statuses(here, [child]), ['pending']);
  assert.deepEqual(two.deadlocks(), []);
});

test('postgres: a step that one process handed out and another is told of ends as any other', async () => {
  await using two = await openTwo();
  const { here, there } = two;
  const steps = [aStep('a'), aStep('b'), aStep('c', { parents: [0, 1] })];
  const { workflow, step } = await submitWorkflow(here, aWorkflow(steps));
  const { id: workerId } = await register(here);
  const claimed = await claim(here, workerId);
  const [first, second] = claimed.map((job) => success({ job, workerId }));
  assert.ok(first !== undefined && second !== undefined);
  assert.equal((await there.settle([first], forever))[0]?.result, 'ok');
  assert.equal((await here.settle([second], forever))[0]?.result, 'ok');
  assert.deepEqual(await statuses(here, [step['c'] ?? 0]), ['pending']);
  const { status, counts } = await readWorkflow(here, workflow);
  assert.deepEqual({ status, counts }, { status: 'running', counts: { open: 1, fine: 2, failed: 0, cancelled: 0 } });
});

test('postgres: two last parents ending together free their child exactly once', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  await rounds(effort.edgeRaces, async (line) => {
    const [first, second] = [await running(here, `first-${line}`), await running(there, `second-${line}`)];
    const queue = `child-${line}`;
    const child = await submitOne(here, after([first.job, second.job], { queue }));
    assert.deepEqual(await Promise.all([first.done(here), second.done(there)]), ['ok', 'ok']);
    const { id } = await register(here);
    const offer = { queues: [queue], commands: true, handlers: [], tags: [], free: {} };
    const claimed = await Promise.all([here, there].map((store) => claim(store, id, { offer })));
    assert.deepEqual(
      claimed.flat().map((job) => [job.id, job.attempt]),
      [[child.id, 1]],
    );
  });
  const [odd] = await given.query<{ count: string }>(
    `select count(*) from "${given.schema}".live where open_edges is not null and (open_edges <> 0 or held_edges <> 2)`,
  );
  assert.equal(odd?.count, '0');
  assert.deepEqual(two.deadlocks(), []);
});

test('postgres: an end that waited for a submit sees the child that was submitted', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  const parent = await running(here, 'a');
  // The submit has locked its parent by the time it waits for the key.
  await using gate = await hold(
    given,
    `insert into "${given.schema}".unique_key (key, job_id, hold) values ('k', 0, 'pending')`,
  );
  const unique = { key: 'k', while: 'active', onConflict: 'existing' } as const;
  const submitting = submitOne(here, after([parent.job], { unique }));
  await waiters(given, 1);
  const settling = parent.done(there);
  await waiters(given, 2);
  await gate.letGo();
  assert.equal(await settling, 'ok');
  const child = await submitting;
  assert.equal(child.status, 'blocked');
  assert.deepEqual(await statuses(here, [child]), ['pending']);
});

test('postgres: a submit that waited for an end sees how its parent ended', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  const parent = await running(here, 'a');
  const elder = await submitOne(here, after([parent.job]));
  await using gate = await hold(given, liveRow(given, elder));
  const settling = parent.done(here);
  await waiters(given, 1);
  const submitting = submit(there, [after([parent.job]), aJob({ dependsOn: [on(parent.job, 'failure')] })]);
  await waiters(given, 2);
  await gate.letGo();
  assert.equal(await settling, 'ok');
  assert.deepEqual(
    (await submitting).map(({ status, reason }) => [status, reason]),
    [
      ['pending', null],
      ['skipped', 'condition'],
    ],
  );
});

test('postgres: a child submitted while its parent settles is never left blocked', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  await rounds(effort.edgeRaces, async (line) => {
    const parent = await running(here, `parent-${line}`);
    const [settled] = await Promise.all([
      parent.done(here),
      submitOne(there, after([parent.job])),
      submitOne(here, after([parent.job])),
    ]);
    assert.equal(settled, 'ok');
  });
  const rows = await given.query<{ status: string; count: string }>(
    `select listed_as as status, count(*) from "${given.schema}".live group by listed_as`,
  );
  assert.deepEqual(rows, [{ status: 'pending', count: String(2 * effort.edgeRaces) }]);
  assert.deepEqual(two.deadlocks(), []);
});

test('postgres: settle against cancel on shared rows: each job ends once, and the counts are those of the jobs', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  await rounds(effort.edgeRaces, async (line) => {
    const queue = `steps-${line}`;
    const job = { queue };
    const { workflow, step } = await submitWorkflow(
      here,
      aWorkflow([
        aStep('left', { job }),
        aStep('right', { job }),
        aStep('both', { parents: [0, 1], job }),
        aStep('tidy', { parents: [0, 1, 2], condition: 'ended', job: { queue: 'tidy' } }),
      ]),
    );
    const { id: workerId } = await register(here);
    const offer = { queues: [queue], commands: true, handlers: [], tags: [], free: {} };
    const taken = await claim(here, workerId, { offer });
    assert.equal(taken.length, 2);
    const successes = taken.map(({ id }) => ({ jobId: id, attempt: 1, workerId, exitCode: 0 }));
    await Promise.all([
      ...successes.map((success, turn) => [here, there][turn]?.settle([success], forever)),
      cancel(there, step['both'] ?? 0),
      cancel(here, step['left'] ?? 0).catch(() => undefined),
    ]);
    await settleDown(there);
    assert.deepEqual(await statuses(here, Object.values(step)), ['done', 'done', 'cancelled', 'pending']);
    assert.deepEqual((await readWorkflow(here, workflow)).counts, { open: 1, fine: 2, failed: 0, cancelled: 1 });
  });
  const twice = await given.query(
    `select job_id from "${given.schema}".run where status is not null group by job_id having count(*) > 1`,
  );
  assert.deepEqual(twice, []);
  assert.deepEqual(two.deadlocks(), []);
});

test('postgres: wide fan-in and fan-out on eight connections: no two transactions wait for each other', async () => {
  await using two = await openTwo();
  const { given, here, there } = two;
  const width = effort.full ? 60 : 24;
  const layers: Job[][] = [await submit(here, jobs(width))];
  for (let depth = 0; depth < 3; depth += 1) {
    const parents = layers.at(-1) as Job[];
    const condition = depth === 1 ? 'ended' : 'success';
    // Some wait for all, some for a few, named backwards.
    const layer = Array.from({ length: width }, (_, place) =>
      aJob({
        dependsOn: [...parents]
          .reverse()
          .filter((_, index) => place % 3 === 0 || (index + place) % 5 === 0)
          .map((parent) => on(parent, condition)),
      }),
    );
    layers.push(await submit(there, layer));
  }
  const all = layers.flat();
  const over = new AbortController();
  const worker = async (store: Store, turn: number) => {
    const { id: workerId } = await register(store);
    for (let round = 0; round < effort.fanRounds; round += 1) {
      const taken = (await claim(store, workerId, { limit: 7 })).reverse();
      const [fine, bad] = [taken.filter(({ id }) => id % 7 !== turn), taken.filter(({ id }) => id % 7 === turn)];
      await Promise.all([
        store.settle(
          fine.map(({ id, attempt }) => ({ jobId: id, attempt, workerId, exitCode: 0 })),
          forever,
        ),
        ...bad.map(({ id }) => cancel(store, id).catch(() => undefined)),
        submit(store, [after(taken.length === 0 ? all.slice(0, 3) : taken)]),
        store.cascade(10, forever),
      ]);
      for (const { id, attempt } of bad) {
        await store.settle([{ jobId: id, attempt, workerId, exitCode: 0 }], forever);
      }
    }
  };
  const person = async (store: Store) => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      const batch = all.filter(({ id }) => id % 5 === round % 5).slice(-6);
      for (const { id } of batch) {
        await (round % 2 === 0 ? cancel(store, id) : retry(store, id)).catch(() => undefined);
      }
    }
  };
  const people = [person(here), person(there)];
  await Promise.all([here, there, here, there].map(worker));
  over.abort();
  await Promise.all(people);
  await settleDown(here);
  const wrong = await given.query(
    `select l.job_id from "${given.schema}".live l where l.open_edges is not null and (
      l.open_edges <> (select count(*) from "${given.schema}".edge e where e.child_id = l.job_id and e.state = 'open'
        and not exists (select 1 from "${given.schema}".run r where r.job_id = e.parent_id and r.propagated))
      or (l.listed_as = 'blocked' and not exists (
        select 1 from "${given.schema}".edge e join "${given.schema}".live p on p.job_id = e.parent_id
        where e.child_id = l.job_id)))`,
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual(two.deadlocks(), []);
});

test('postgres: a process killed while it propagates an end leaves nothing undone', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  const length = effort.graphNodes;
  const steps = Array.from({ length }, (_, place) => aStep(`s${place}`, { parents: place === 0 ? [] : [place - 1] }));
  const { workflow } = await store.insertWorkflow(aWorkflow(steps), {}, forever);
  const hands = await Hands.of(store);
  const [head] = await hands.take();
  await hands.failed(head ?? 0);

  await using process = Child.script(
    new URL('../../kit/postgres-grapher.ts', import.meta.url),
    url,
    schema,
    'cascade',
    '50',
  );
  await process.line();
  // It has written its next piece and waits for the last lock before it commits.
  await using gate = await hold(given, `select 1 from "${schema}".workflow where id = ${workflow.id} for update`);
  await waiters(given, 1);
  await process.kill();
  await gate.letGo();
  const { counts } = await readWorkflow(store, workflow);
  assert.ok(counts.open > 0 && counts.fine > 0, `it was killed half-way: ${JSON.stringify(counts)}`);

  while ((await store.cascade(1_000, forever)) > 0);
  const ended = await readWorkflow(store, workflow);
  assert.deepEqual([ended.status, ended.counts], ['failed', { open: 0, fine: length - 1, failed: 1, cancelled: 0 }]);
  const rows = await given.query<{ status: string; count: string }>(
    `select status, count(*) from "${schema}".run where status is not null group by status order by status`,
  );
  assert.deepEqual(rows, [
    { status: 'failed', count: '1' },
    { status: 'skipped', count: String(length - 1) },
  ]);
  assert.deepEqual(await given.query(`select 1 from "${schema}".live union all select 1 from "${schema}".cascade`), []);
});

test('postgres: a process killed while it fills a group: each index exactly once', async () => {
  await using given = await openTestPostgres();
  const { store, url, schema } = given;
  const items = Array.from({ length: effort.graphItems }, (_, index) => `item ${index}`);
  const { workflow, step } = await submitWorkflow(
    store,
    aWorkflow([
      aStep('list'),
      aStep('each', { parents: [0], forEach: { items: { parent: 0, path: ['files'] }, maxParallel: null } }),
    ]),
  );
  const hands = await Hands.of(store);
  await hands.done(step['list'] ?? 0, { files: items });

  const middle = items.length / 2 + 7;
  await using gate = await hold(
    given,
    `insert into "${schema}".job (id, queue, kind, priority, tags, created_at, spec, group_id, group_index)
      values (-1, '', '', 0, '{}', now(), '{}', ${step['each']}, ${middle})`,
  );
  await using process = Child.script(
    new URL('../../kit/postgres-grapher.ts', import.meta.url),
    url,
    schema,
    'expand',
    '50',
  );
  // In the middle of a piece it meets an index that somebody else is about to insert.
  await waiters(given, 1);
  await process.kill();
  await gate.letGo();
  const inserted = async () => (await store.steps(workflow.id, null, forever))[1]?.group?.inserted;
  assert.equal(await inserted(), Math.floor(middle / 50) * 50);

  while ((await store.expand(1_000, forever)) > 0);
  assert.equal(await inserted(), items.length);
  const [row] = await given.query<{ jobs: string; indexes: string; last: number }>(
    `select count(*) as jobs, count(distinct group_index) as indexes, max(group_index) as last
      from "${schema}".job where group_id = ${step['each']}`,
  );
  assert.deepEqual(row, { jobs: String(items.length), indexes: String(items.length), last: items.length - 1 });

  for (let taken = await hands.take(); taken.length > 0; taken = await hands.take()) {
    const leases = await Promise.all(taken.map((id) => hands.lease(id)));
    const successes = leases.map(({ job, workerId }) => {
      return { jobId: job.id, attempt: 1, workerId, exitCode: 0, result: job.runContext?.item?.value };
    });
    await store.settle(successes, forever);
  }
  const [group] = await store.read([step['each'] ?? 0], forever);
  assert.deepEqual([group?.status, group?.result], ['done', items]);
});
