import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { forever, register } from '../../contract/kit/steps.ts';
import { examine } from '../../src/node/doctor/doctor.ts';
import type { Finding } from '../../src/node/doctor/finding.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openSqlite } from '../../src/store/sqlite/base/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openTestPostgres, testPostgresUrl, testSchema } from '../kit/postgres.ts';
import { aFolder } from '../kit/sqlite.ts';

const of = (findings: readonly Finding[], check: string) => findings.filter((finding) => finding.check === check);
const bad = (findings: readonly Finding[]) =>
  findings.filter(({ state }) => state === 'bad').map(({ detail }) => detail);

async function waitForWorkers(
  store: Store,
  look: () => Promise<Finding[]>,
  silence: () => Promise<unknown>,
): Promise<void> {
  await store.insert(
    [aJob({ queue: 'render', handler: 'resize', command: null, requires: ['gpu'] }), aJob()],
    {},
    forever,
  );
  assert.match(bad(await look())[0] ?? '', /2 jobs wait, and no worker is online/);
  await register(store, { commands: true });
  const [unserved, ...rest] = bad(await look());
  assert.match(unserved ?? '', /^1 job needs a worker with handler resize, tag gpu on queue render; none is online$/);
  assert.deepEqual(rest, [], 'the other job can be run');
  await register(store, { handlers: ['resize'], tags: ['gpu'] });
  const gang = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'fail', timeoutMs: 60_000 } as const;
  const members = [0, 1].map((rank) => aJob({ tags: ['gang:g'], gang: { ...gang, rank } }));
  await store.insert(members, {}, forever);
  assert.deepEqual(bad(await look()), [], 'a worker can run the members of the gang');
  await silence();
  assert.match(
    bad(await look())[0] ?? '',
    /jobs wait, and no worker is online/,
    'they left no word, and nobody noticed',
  );
}

test('doctor: a SQLite file: rights, schema, and jobs that no worker can run', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'workron.db');
  // Whether a worker is there is decided by the clock of the machine.
  await using store = await openSqlite({ file, clock: systemClock, log: silentLog });
  const look = () => examine({ driver: 'sqlite', file }, 'workron');
  assert.equal(of(await look(), 'schema')[0]?.state, 'ok');
  assert.equal(of(await look(), 'permissions')[0]?.state, 'ok');
  chmodSync(file, 0o644);
  assert.equal(of(await look(), 'permissions')[0]?.state, 'warning');
  await waitForWorkers(store, look, async () => {
    using database = new DatabaseSync(file);
    database.exec('update worker set seen_at = seen_at - 3600000');
  });
});

test('doctor: a file that is not there is no error, one of another program is', async () => {
  await using folder = await aFolder();
  const file = join(folder.path, 'x.db');
  assert.deepEqual(bad(await examine({ driver: 'sqlite', file }, 'workron')), []);
  writeFileSync(file, 'this is not a database, but it is long enough to be taken for one'.repeat(50));
  assert.equal(bad(await examine({ driver: 'sqlite', file }, 'workron')).length, 1);
});

test('doctor: PostgreSQL: server, clock, pooler, schema, transactions, and jobs that no worker can run', async () => {
  await using opened = await openTestPostgres();
  const { url, schema } = opened;
  const look = () => examine({ driver: 'postgres', url }, schema);
  const findings = await look();
  for (const check of ['server', 'clock', 'pooler', 'schema', 'vacuum horizon', 'bloat']) {
    assert.equal(of(findings, check)[0]?.state, 'ok', JSON.stringify(of(findings, check)));
  }
  await waitForWorkers(opened.store, look, () =>
    opened.query(`update "${schema}".worker set seen_at = seen_at - interval '1 hour'`),
  );
});

test('doctor: a schema that is missing and a database that does not answer are named, with advice', async () => {
  const url = await testPostgresUrl();
  const [missing] = of(await examine({ driver: 'postgres', url }, testSchema()), 'schema');
  assert.deepEqual([missing?.state, missing?.advice], ['bad', 'run `workron migrate`, or start Workron']);
  const away = 'postgres://nobody@127.0.0.1:1/none';
  assert.equal(of(await examine({ driver: 'postgres', url: away }, 'workron'), 'store')[0]?.state, 'bad');
});
