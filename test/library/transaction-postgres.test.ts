/** Jobs in the application's own transactions, on a real PostgreSQL, with the drivers that applications use. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { job, type OpenOptions, open, type Transaction, type Workron } from '../../src/index.ts';
import { eventually } from '../kit/eventually.ts';
import { openEmptiedPostgres, type PostgresTestStore } from '../kit/postgres.ts';
import { exerciseTransaction } from './exercise-transaction.ts';

const mail = job('mail', { run: (to: string) => `sent to ${to}` });

interface Place extends AsyncDisposable {
  workron: Workron;
  place: PostgresTestStore;
  pool: pg.Pool;
}

async function openPlace(options: OpenOptions = {}): Promise<Place> {
  const place = await openEmptiedPostgres();
  const workron = await open(place.url, { schema: place.schema, log: 'silent', ...options });
  const pool = new pg.Pool({ connectionString: place.url });
  await pool.query(`create table if not exists "${place.schema}".orders (id serial primary key, item text)`);
  return {
    workron,
    place,
    pool,
    async [Symbol.asyncDispose]() {
      await workron.stop();
      await pool.end();
      await place[Symbol.asyncDispose]();
    },
  };
}

type InTransaction = (
  body: (tx: Transaction, write: (text: string) => Promise<unknown>) => Promise<void>,
) => Promise<void>;

/** Runs `body` in a transaction and commits, or rolls back if it throws. */
type Driver = (place: Place) => { run: InTransaction; end: () => Promise<void> };

const DRIVERS: { pg: Driver } & Record<string, Driver> = {
  pg: ({ pool }) => ({
    async run(body) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await body(client, (text) => client.query(text));
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    end: () => Promise.resolve(),
  }),
  kysely: ({ place }) => {
    const db = new Kysely<object>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: place.url }) }),
    });
    return {
      run: (body) =>
        db.transaction().execute(async (trx) => {
          const { CompiledQuery } = await import('kysely');
          await body(trx, (text) => trx.executeQuery(CompiledQuery.raw(text)));
        }),
      end: () => db.destroy(),
    };
  },
  drizzle: ({ pool }) => {
    const db = drizzle(pool);
    return {
      run: (body) => db.transaction((tx) => body(tx, (text) => tx.execute(text))),
      end: () => Promise.resolve(),
    };
  },
  'postgres.js': ({ place }) => {
    const sql = postgres(place.url, { max: 1, onnotice: () => undefined });
    return {
      run: async (body) => {
        await sql.begin((tx) => body(tx, async (text) => tx.unsafe(text)));
      },
      end: () => sql.end(),
    };
  },
  'the shape of Prisma': ({ pool }) => ({
    async run(body) {
      const client = await pool.connect();
      const tx = {
        $queryRawUnsafe: async (text: string, ...values: unknown[]) =>
          (await client.query(text, values)).rows as unknown,
      };
      try {
        await client.query('begin');
        await body(tx, (text) => client.query(text));
        await client.query('commit');
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
    end: () => Promise.resolve(),
  }),
};

for (const [name, driver] of Object.entries(DRIVERS)) {
  test(`transaction: with ${name}, a job is there on commit, runs, and vanishes on rollback`, async () => {
    await using given = await openPlace();
    const { workron, place } = given;
    const { run, end } = driver(given);
    try {
      await workron.start({ jobs: [mail] });
      let id = '';
      await run(async (tx, write) => {
        await write(`insert into "${place.schema}".orders (item) values ('it''s a book')`);
        id = (await workron.submit(mail, `O'Neil \\ "ü" $1`, { tx })).id;
        await assert.rejects(workron.job(id), { code: 'job_not_found' }, 'nobody sees it before the commit');
      });
      assert.equal(await workron.handle(id).result(), `sent to O'Neil \\ "ü" $1`);
      await assert.rejects(
        run(async (tx) => {
          id = (await workron.submit(mail, 'nobody', { tx, delay: '1h' })).id;
          throw new Error('no stock');
        }),
        /no stock/,
      );
      await assert.rejects(workron.job(id), { code: 'job_not_found' });
      const [orders] = await place.query<{ count: string }>(`select count(*) from "${place.schema}".orders`);
      assert.equal(Number(orders?.count), 1);
    } finally {
      await end();
    }
  });
}

for (const [name, driver] of Object.entries(DRIVERS)) {
  test(`transaction: with ${name}, the log of a job that it completes is there when the job is done, and grows afterwards`, async () => {
    await using given = await openPlace();
    const { workron, place } = given;
    const { run, end } = driver(given);
    const logOf = async (id: string) => {
      const rows = await place.query<{ data: Buffer }>(
        `select data from "${place.schema}".log where job_id = $1 order by start`,
        [id],
      );
      return Buffer.concat(rows.map(({ data }) => data)).toString();
    };
    const go = Promise.withResolvers<void>();
    const talks = job('talks', {
      async run(_: unknown, { complete, log, progress }) {
        log('before');
        progress(0.5);
        await run((tx) => complete(tx, 'completed'));
        await go.promise;
        log('after');
        return 'completed';
      },
    });
    try {
      await workron.start({ jobs: [talks] });
      const handle = await workron.submit(talks);
      assert.equal(await handle.result(), 'completed');
      assert.equal(await logOf(handle.id), 'before\n');
      assert.equal((await handle.job()).progress?.fraction, 0.5);
      go.resolve();
      await eventually(async (saw) => saw(await logOf(handle.id)) === 'before\nafter\n');
    } finally {
      await end();
    }
  });
}

exerciseTransaction('PostgreSQL', async (options) => {
  const place = await openPlace(options);
  const { run } = DRIVERS.pg(place);
  const { schema } = place.place;
  return {
    workron: place.workron,
    async specOf(id) {
      const { rows } = await place.pool.query(`select spec::text from "${schema}".job where id = $1`, [id]);
      return rows[0].spec;
    },
    lose: (id) => place.pool.query(`update "${schema}".live set attempt = attempt + 1 where job_id = $1`, [id]),
    async transact<T>(body: (tx: Transaction) => Promise<T>) {
      let answer: T | undefined;
      await run(async (tx) => {
        answer = await body(tx);
      });
      return answer as T;
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
});

test('transaction: parents are judged after the commit, whatever became of them meanwhile', async () => {
  await using given = await openPlace();
  const { workron } = given;
  const { run } = DRIVERS.pg(given);
  const fails = job('fails', {
    maxAttempts: 1,
    run: () => {
      throw new Error('no');
    },
  });
  await workron.start({ jobs: [mail, fails] });
  const good = await workron.submit(mail, 'first');
  const bad = await workron.submit(fails);
  const waiting = await workron.submit(mail, 'later', { delay: '1h' });
  const children: Record<string, string> = {};
  await run(async (tx) => {
    const after = async (name: string, dependsOn: NonNullable<Parameters<typeof workron.submit>[2]>['dependsOn']) => {
      children[name] = (await workron.submit(mail, name, { tx, dependsOn: dependsOn ?? [] })).id;
    };
    await after('good', [good]);
    await after('bad', [bad]);
    await after('despite', [{ job: bad, if: 'failure' }]);
    await after('waits', [waiting]);
    await after('own', [children['good'] as string]);
    await good.ended();
    await bad.ended();
    await assert.rejects(workron.submit(mail, 'x', { tx, dependsOn: ['999999'] }), { code: 'dependency_unknown' });
  });
  const ended = async (name: string) => (await workron.handle(children[name] as string).ended()).status;
  assert.equal(await ended('good'), 'done');
  assert.equal(await ended('own'), 'done');
  assert.equal(await ended('bad'), 'skipped');
  assert.equal(await ended('despite'), 'done');
  const blocked = await eventually(async () => {
    const found = await workron.job(children['waits'] as string);
    return found.dependsOn.length === 1 && found;
  });
  assert.equal(blocked.status, 'blocked');
  await waiting.cancel();
  assert.equal(await ended('waits'), 'cancelled');
});

test('transaction: one that stays open holds up nobody: not its parents, not its queue, not new kinds of jobs', async () => {
  await using given = await openPlace();
  const { workron, pool } = given;
  const other = job('other', { run: () => 'ran' });
  await workron.start({ jobs: [mail, other] });
  const parent = await workron.submit(mail, 'parent', { delay: 50 });
  const client = await pool.connect();
  await client.query('begin');
  const child = await workron.submit(mail, 'child', { tx: client, dependsOn: [parent] });
  await workron.submit(mail, 'of a new queue', { tx: client, queue: 'never seen' });
  assert.equal(await parent.result(), 'sent to parent');
  assert.equal(await (await workron.submit(other, null, { queue: 'new too' })).result(), 'ran');
  assert.equal(await (await workron.submit(mail, 'meanwhile')).result(), 'sent to meanwhile');
  await client.query('commit');
  client.release();
  assert.equal(await child.result(), 'sent to child');
});

test('transaction: a unique key is taken with it, and given back with it', async () => {
  await using given = await openPlace();
  const { workron, pool } = given;
  const unique = { key: 'k' } as const;
  const client = await pool.connect();
  await client.query('begin');
  const first = await workron.submit(mail, 'a', { tx: client, unique });
  const same = await workron.submit(mail, 'b', { tx: client, unique });
  assert.deepEqual([same.id, same.deduplicated], [first.id, true]);
  await client.query('rollback');
  const second = await workron.submit(mail, 'c', { unique });
  assert.equal(second.deduplicated, false);
  await client.query('begin');
  assert.equal((await workron.submit(mail, 'd', { tx: client, unique })).id, second.id);
  await assert.rejects(workron.submit(mail, 'e', { tx: client, unique: { ...unique, onConflict: 'reject' } }), {
    code: 'unique_conflict',
  });
  await client.query('rollback');
  await assert.rejects(workron.submit(mail, 'e', { tx: client, unique: { ...unique, onConflict: 'replace' } }), {
    code: 'bad_request',
  });
  await assert.rejects(workron.submit(mail, 'f', { tx: {} as Transaction }), /tx: expected/);
  client.release();
});

test('transaction: the SQL function writes the rows that the library writes', async () => {
  await using given = await openPlace();
  const { workron, place } = given;
  const submit = async (args: string) => {
    const [row] = await place.query<{ id: string }>(`select "${place.schema}".submit(${args}) as id`);
    return String(row?.id);
  };
  const parent = await workron.submit(mail, 'parent');
  const pairs: [string, string][] = [
    [await submit(`handler => 'mail', input => '"ada"'`), (await workron.submit(mail, 'ada')).id],
    [
      await submit(`handler => 'mail', max_attempts => 1`),
      (await workron.submit(job('mail'), undefined, { maxAttempts: 1 })).id,
    ],
    [await submit(`'echo "hi\t"'`), (await workron.submitCommand('echo "hi\t"')).id],
    [
      await submit(`handler => 'mail', input => '{"n": 1}', name => 'n', queue => 'q "x"', priority => -7, delay => '1 hour',
        max_attempts => 5, timeout => '90 seconds', unique_key => 'sql', unique_while => 'pending', tags => '{a,b}'`),
      (
        await workron.submit(
          job('mail'),
          { n: 1 },
          {
            name: 'n',
            queue: 'q "x"',
            priority: -7,
            delay: '1h',
            maxAttempts: 5,
            timeout: '90s',
            unique: { key: 'library', while: 'pending' },
            tags: ['a', 'b'],
          },
        )
      ).id,
    ],
    [
      await submit(`command => 'true', depends_on => '{${parent.id}}', run_at => '2030-01-01T00:00:00Z'`),
      (await workron.submitCommand('true', { dependsOn: [parent], runAt: '2030-01-01T00:00:00Z' })).id,
    ],
  ];
  // What was left unjudged is judged as anything else is.
  await workron.start({ jobs: [], commands: false });
  await eventually(async () => (await place.query(`select 1 from "${place.schema}".intake`)).length === 0);
  for (const [sql, library] of pairs) {
    const rowsOf = async (id: string) => {
      const rows = await place.query<Record<string, unknown>>(
        `select j.*, l.*, k.hold, (select array_agg(e.parent_id || e.condition || e.state) from "${place.schema}".edge e where e.child_id = j.id) as edges
         from "${place.schema}".job j join "${place.schema}".live l on l.job_id = j.id
         left join "${place.schema}".unique_key k on k.job_id = j.id where j.id = $1`,
        [id],
      );
      const {
        id: _,
        job_id: __,
        created_at: ___,
        due,
        spec,
        ...rest
      } = rows[0] as { spec: Record<string, unknown> } & Record<string, unknown>;
      const { unique_key: key, ...plain } = spec;
      return { ...rest, spec: plain, keyed: key !== undefined, later: (due as Date).getTime() > Date.now() };
    };
    assert.deepEqual(await rowsOf(sql), await rowsOf(library));
  }
  await assert.rejects(submit(`'true', handler => 'mail'`), /exactly one/);
  await assert.rejects(submit(`'true', depends_on => '{999999}'`), /dependency_unknown/);
  await assert.rejects(submit(`'true', unique_key => 'sql', on_conflict => 'reject'`), /unique_conflict/);
  await assert.rejects(submit(`'true', priority => 40000`), /out of range/);
});

test('transaction: a success and the application’s writes are there together, or neither is', async () => {
  await using given = await openPlace();
  const { workron, pool, place } = given;
  const orders = `"${place.schema}".orders`;
  const ship = job('ship', {
    maxAttempts: 2,
    backoff: { type: 'none' },
    async run(item: string, { complete, attempt }) {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await client.query(`insert into ${orders} (item) values ($1)`, [item]);
        await complete(client, { attempt });
        if (attempt === 1 && item === 'breaks before') throw new Error('before the commit');
        await client.query('commit');
        // What goes wrong from here on changes nothing any more.
        if (item === 'breaks after') throw new Error('after the commit');
        return { attempt };
      } catch (error) {
        await client.query('rollback');
        throw error;
      } finally {
        client.release();
      }
    },
  });
  await workron.start({ jobs: [ship, mail] });
  for (const [item, attempt] of [
    ['fine', 1],
    ['breaks before', 2],
    ['breaks after', 1],
  ] as const) {
    const handle = await workron.submit(ship, item);
    const child = await workron.submit(mail, item, { dependsOn: [handle] });
    assert.deepEqual(await handle.result(), { attempt }, item);
    assert.equal(await child.result(), `sent to ${item}`);
    const rows = await place.query(`select 1 from ${orders} where item = $1`, [item]);
    assert.equal(rows.length, 1, item);
  }
});

test('transaction: an attempt that lost its lease cannot complete, and its writes are rolled back', async () => {
  await using given = await openPlace();
  const { workron, pool } = given;
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const refused = Promise.withResolvers<unknown>();
  const slow = job('slow', {
    killGrace: 1,
    async run(_: unknown, { complete }) {
      started.resolve();
      await gate.promise;
      const client = await pool.connect();
      await client.query('begin');
      await complete(client).then(() => refused.resolve(null), refused.resolve);
      await client.query('rollback');
      client.release();
    },
  });
  await workron.start({ jobs: [slow] });
  const handle = await workron.submit(slow, null, { timeout: 30, maxAttempts: 1 });
  await started.promise;
  assert.equal((await handle.ended()).reason, 'timeout');
  gate.resolve();
  assert.equal(((await refused.promise) as { code?: string }).code, 'lease_lost');
});
