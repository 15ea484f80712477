/** Inputs with `seal_input`: sealed in every store, opened for the worker that runs the job, and for nobody else. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { DEFAULT_SPEC, type NewJob } from '../../src/core/job.ts';
import { NEVER } from '../../src/core/never.ts';
import { KeyRing } from '../../src/ops/key-ring.ts';
import { eventually } from '../kit/eventually.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { made, openWithKeys, RAW_STORES } from '../kit/raw-stores.ts';

const TEXT = 'canary-of-a-sealed-input';
const handlers = ['charge'];
const key = () => randomBytes(32).toString('base64');

/** A job with a sealed input, which `n` tells from others. */
const charge = (n: string) => ({ handler: 'charge', input: { card: `${TEXT}-${n}`, n: [1, null] }, seal_input: true });
const inputOf = (n: string) => charge(n).input;

const file = (text: string) =>
  `name: etl\ndefaults: { seal_input: true }\nsteps:\n  - { key: a, handler: charge, input: { card: '${text}' } }\n`;

type Claimed = { id: string; attempt: number; input: unknown; seal_input: boolean; run_context: unknown };

/** Claims all that is due, and returns it by job. */
async function claimAll(server: TestServer): Promise<Map<string, Claimed & { worker: string }>> {
  const { worker_id: worker } = await made(server, 'POST', '/workers/register', { name: 'w', slots: 50, handlers });
  const { items } = await made(server, 'POST', '/jobs/claim', { worker_id: worker, limit: 50, handlers });
  return new Map((items as Claimed[]).map((job) => [job.id, { ...job, worker }]));
}

const end = (server: TestServer, { worker, id, attempt }: Claimed & { worker: string }, outcome: object) =>
  made(server, 'POST', `/workers/${worker}/settle`, { items: [{ job_id: id, attempt, outcome }] });

/** Ids of the jobs of a workflow's steps, and of the items of its `for_each` steps. */
async function jobsOf(server: TestServer, workflowId: string): Promise<string[]> {
  const { items } = await made(server, 'GET', `/jobs?workflow_id=${workflowId}`);
  return (items as { id: string }[]).map(({ id }) => id).sort((a, b) => Number(a) - Number(b));
}

for (const [driver, open] of Object.entries(RAW_STORES)) {
  void describe(driver, () => {
    test('sealed input: it is nowhere in the store, readers see that it is sealed, and workers get it', async () => {
      await using given = await open();
      await using server = await openTestServer({ store: given.store, secretKeys: KeyRing.parse(key()) });
      const expected = new Map<string, unknown>();
      const job = await made(server, 'POST', '/jobs', charge('job'));
      expected.set(job.id, inputOf('job'));
      assert.deepEqual([job.input, job.seal_input], [null, true]);
      expected.set((await made(server, 'POST', `/jobs/${job.id}/rerun`)).id, inputOf('job'));
      const stdin = await made(server, 'POST', '/jobs', { command: 'cat', input: `${TEXT}\n`, seal_input: true });
      expected.set(stdin.id, `${TEXT}\n`);
      expected.set((await made(server, 'POST', '/jobs', { handler: 'charge', seal_input: true })).id, null);
      const many = await made(server, 'POST', '/jobs', ['m1', 'm2', 'm3'].map(charge));
      for (const [index, { id }] of many.items.entries()) expected.set(id, inputOf(`m${index + 1}`));
      const long = await made(server, 'POST', '/jobs', { ...charge('x'.repeat(100_000)), queue: 'long' });
      expected.set(long.id, inputOf('x'.repeat(100_000)));
      const gang = await made(server, 'POST', '/jobs', { ...charge('gang'), gang: { size: 2 } });
      assert.deepEqual(
        gang.items.map((member: Claimed) => [member.input, member.seal_input]),
        [
          [null, true],
          [null, true],
        ],
      );
      const held = { ...charge('first'), delay: '1h', unique: { key: 'u', on_conflict: 'replace' } };
      const unique = await made(server, 'POST', '/jobs', held);
      const replaced = await made(server, 'POST', '/jobs', { ...held, delay: 0, ...charge('second') });
      assert.equal(replaced.id, unique.id);
      expected.set(unique.id, inputOf('second'));
      const once = { 'idempotency-key': 'once' };
      const first = await server.call('POST', '/jobs', charge('once'), once);
      const again = await server.call('POST', '/jobs', charge('once'), once);
      assert.deepEqual([again.body.id, again.body.input], [first.body.id, null]);
      expected.set(first.body.id, inputOf('once'));
      const other = await server.call('POST', '/jobs', charge('other'), once);
      assert.deepEqual([other.status, other.body.code], [422, 'idempotency_mismatch']);
      const workflow = await made(server, 'POST', '/workflows', {
        name: 'w',
        steps: [
          { key: 'a', ...charge('step') },
          { key: 'b', ...charge('items'), for_each: [1, 2] },
        ],
      });
      await made(server, 'PUT', '/definitions/etl', { source: file(TEXT) });
      const run = await made(server, 'POST', '/definitions/etl/run', {});
      const nightly = await made(server, 'PUT', '/schedules/nightly', { every: '1h', job: charge('tick') });
      assert.deepEqual([nightly.job.input, nightly.job.seal_input], [null, true]);
      const [tick] = (await made(server, 'POST', '/schedules/nightly/run')).items;
      expected.set(tick.job_id, inputOf('tick'));

      assert.equal((await given.raw()).includes(TEXT), false, 'the store has it in the clear');
      const shown = await Promise.all(
        [
          `/jobs/${job.id}`,
          '/jobs?limit=200',
          `/jobs?q=${TEXT.slice(0, -1)}`,
          '/schedules/nightly',
          `/workflows/${workflow.id}`,
          `/jobs/${job.id}/history`,
          '/definitions/etl',
        ].map((path) => made(server, 'GET', path)),
      );
      assert.equal(JSON.stringify(shown).includes(TEXT), false, 'a reader gets it');
      assert.deepEqual(shown[2].items, [], 'it can be searched for');
      assert.deepEqual([shown[0].input, shown[0].seal_input], [null, true]);
      const listed = (shown[1].items as (Claimed & { cut?: string[] })[]).filter(({ id }) => expected.has(id));
      assert.equal(listed.length, expected.size);
      for (const each of listed) assert.deepEqual([each.input, each.seal_input, each.cut], [null, true, undefined]);

      await eventually(async () => (await jobsOf(server, workflow.id)).length === 4);
      let claimed = await claimAll(server);
      for (const [id, input] of expected) assert.deepEqual(claimed.get(id)?.input, input);
      const steps = await jobsOf(server, workflow.id);
      const inputs = steps.flatMap((id) => claimed.get(id)?.input ?? []);
      assert.deepEqual(inputs, [inputOf('step'), inputOf('items'), inputOf('items')]);
      const [ran = ''] = await jobsOf(server, run.id);
      assert.deepEqual(claimed.get(ran)?.input, { card: TEXT });
      assert.equal((await given.raw()).includes(TEXT), false, 'the store has it in the clear after the claim');

      const failing = claimed.get(job.id) as Claimed & { worker: string };
      await end(server, failing, { type: 'failed', error: 'no', fatal: true });
      await made(server, 'POST', `/jobs/${job.id}/retry`);
      await made(server, 'PATCH', `/jobs/${job.id}`, { priority: 5 });
      for (const id of steps) {
        const step = claimed.get(id);
        if (step !== undefined) await end(server, step, { type: 'failed', error: 'no', fatal: true });
      }
      const rerun = await made(server, 'POST', `/workflows/${workflow.id}/rerun`, { from: 'b' });
      await eventually(async () => (await jobsOf(server, rerun.id)).length === 3);
      claimed = await claimAll(server);
      assert.deepEqual(claimed.get(job.id)?.input, inputOf('job'), 'after a retry and an edit');
      const repeated = (await jobsOf(server, rerun.id)).flatMap((id) => claimed.get(id)?.input ?? []);
      assert.deepEqual(repeated, [inputOf('items'), inputOf('items')]);
      assert.equal((await given.raw()).includes(TEXT), false, 'the store has it in the clear at the end');
    });

    test('sealed input: an edit of a schedule keeps the choice, and changes it only with a new input', async () => {
      await using given = await open();
      await using server = await openTestServer({ store: given.store, secretKeys: KeyRing.parse(key()) });
      await made(server, 'PUT', '/schedules/s', { every: '1h', overlap: 'allow', job: charge('first') });
      const edit = (job: object) => server.call('PATCH', '/schedules/s', { job });
      const runsWith = async () => {
        const [{ job_id: id }] = (await made(server, 'POST', '/schedules/s/run')).items;
        return (await claimAll(server)).get(id)?.input;
      };
      assert.equal((await edit({ queue: 'other' })).status, 200);
      assert.deepEqual(await runsWith(), inputOf('first'));
      const changed = await edit({ input: inputOf('second') });
      assert.deepEqual([changed.status, changed.body.job.input, changed.body.job.seal_input], [200, null, true]);
      assert.deepEqual(await runsWith(), inputOf('second'));
      for (const seal of [true, false, null]) {
        const refused = await edit({ seal_input: seal });
        assert.deepEqual([refused.status, refused.body.code], [400, 'schedule_invalid'], String(seal));
        assert.match(refused.body.detail, /job\.seal_input: expected input, too/);
      }
      assert.equal((await given.raw()).includes(TEXT), false);
      const unsealed = await edit({ seal_input: false, input: 'for everybody' });
      assert.deepEqual([unsealed.body.job.input, unsealed.body.job.seal_input], ['for everybody', false]);
      assert.equal(await runsWith(), 'for everybody');
      await made(server, 'PATCH', '/schedules/s', { job: { input: inputOf('third'), seal_input: true } });
      assert.deepEqual(await runsWith(), inputOf('third'));
      assert.equal((await given.raw()).includes(TEXT), false);
      const command = await edit({ command: 'true' });
      assert.deepEqual([command.body.job.command, command.body.job.seal_input], ['true', false]);
      assert.equal((await edit({ command: 'true', input: 'x', seal_input: true })).status, 400);
    });

    test('sealed input: what is declared again as it was is not changed', async () => {
      await using given = await open();
      const secretKeys = KeyRing.parse(key());
      await using server = await openTestServer({ store: given.store, secretKeys });
      const apply = async (n: string, sealed: boolean, to = server) => {
        const job = { ...charge(n), seal_input: sealed };
        const schedules = [
          { name: 'job', every: '1h', job },
          { name: 'workflow', every: '1h', workflow: { name: 'w', steps: [{ key: 'a', ...job }] } },
        ];
        const { items } = await made(to, 'POST', '/schedules/apply', { owner: 'team', schedules });
        return (items as { action: string; fields: string[] }[]).map(({ action, fields }) => [action, ...fields]);
      };
      assert.deepEqual(await apply('a', true), [['add'], ['add']]);
      assert.deepEqual(await apply('a', true), [['keep'], ['keep']]);
      assert.deepEqual(await apply('b', true), [
        ['change', 'job.input'],
        ['change', 'workflow'],
      ]);
      assert.equal((await given.raw()).includes(TEXT), false);
      const fresh = KeyRing.parse(key());
      await using other = await openTestServer({ store: given.store, secretKeys: fresh, instanceId: 'other' });
      const [, ...fields] = (await apply('b', true, other))[0] as string[];
      assert.deepEqual(fields, ['job.input'], 'what cannot be opened differs from all');
      assert.deepEqual(await apply('b', false, other), [
        ['change', 'job.seal_input'],
        ['change', 'workflow'],
      ]);
    });

    test('sealed input: a server without the key fails the job, says why, and a rotation keeps it', async () => {
      await using given = await open();
      const [old, fresh] = [key(), key()];
      const withKeys = (...keys: string[]) => openWithKeys(given.store, keys);
      await using first = await withKeys(old);
      for (const [keys, why] of [
        [[], /the input cannot be read: the process that claims for this worker has no secrets key/],
        [[fresh], /the input cannot be read: no key of the process that claims for this worker opens it/],
      ] as const) {
        await using server = await withKeys(...keys);
        const { id } = await made(first, 'POST', '/jobs', { ...charge('lost'), max_attempts: 1 });
        assert.equal((await claimAll(server)).size, 0);
        const failed = await made(server, 'GET', `/jobs/${id}`);
        assert.equal(failed.status, 'failed');
        assert.match(failed.error, why);
      }
      const { id } = await made(first, 'POST', '/jobs', charge('kept'));
      await using both = await withKeys(fresh, old);
      await made(both, 'POST', '/secrets/rotate');
      await using last = await withKeys(fresh);
      assert.deepEqual((await claimAll(last)).get(id)?.input, inputOf('kept'), 'after a rotation the new key opens it');
    });

    test('sealed input: without a key it is refused wherever it is given, and nothing is stored', async () => {
      await using given = await open();
      await using server = await openTestServer({ store: given.store, secretKeys: null });
      await made(server, 'PUT', '/schedules/plain', { every: '1h', job: { handler: 'charge', input: 1 } });
      const steps = [{ key: 'a', ...charge('step') }];
      const calls: [string, string, unknown][] = [
        ['POST', '/jobs', charge('job')],
        ['POST', '/jobs', [{ command: 'true' }, charge('job')]],
        ['POST', '/jobs', { ...charge('gang'), gang: { size: 2 } }],
        ['POST', '/workflows', { name: 'w', steps }],
        ['PUT', '/definitions/etl', { source: file(TEXT) }],
        ['PUT', '/schedules/new', { every: '1h', job: charge('tick') }],
        ['PUT', '/schedules/new', { every: '1h', workflow: { name: 'w', steps } }],
        ['PATCH', '/schedules/plain', { job: { input: inputOf('edit'), seal_input: true } }],
        ['POST', '/schedules/apply', { owner: 'team', schedules: [{ name: 'x', every: '1h', job: charge('tick') }] }],
      ];
      for (const [method, path, body] of calls) {
        const refused = await server.call(method, path, body);
        assert.deepEqual([refused.status, refused.body.code], [409, 'no_secrets_key'], `${method} ${path}`);
        assert.match(refused.body.detail, /seal_input: there is no key to encrypt the input with/);
        assert.equal(JSON.stringify(refused.body).includes(TEXT), false);
      }
      for (const list of ['/jobs', '/workflows', '/definitions']) {
        assert.deepEqual((await made(server, 'GET', list)).items, [], list);
      }
      assert.equal((await made(server, 'GET', '/schedules')).items.length, 1);
      if (driver !== 'memory') assert.equal((await given.raw()).includes(TEXT), false);
    });
  });
}

test('sealed input: only seal_input says so, and nothing inside of an input', async () => {
  await using server = await openTestServer();
  const sealed = await made(server, 'POST', '/jobs', charge('a'));
  const text = (await server.scheduler.job(Number(sealed.id), NEVER)).sealedInput as string;
  assert.match(text, /^[0-9a-f]{8}:[\w+/=]+$/);
  const forged = [{ sealed: text }, { sealed_input: text, seal_input: true }, text, { seal_input: true }];
  const expected = new Map<string, unknown>();
  for (const input of forged) {
    for (const seal_input of [true, false]) {
      const { id } = await made(server, 'POST', '/jobs', { handler: 'charge', input, seal_input });
      expected.set(id, input);
    }
  }
  const claimed = await claimAll(server);
  for (const [id, input] of expected) assert.deepEqual(claimed.get(id)?.input, input);
  for (const more of [{ seal_input: 'yes' }, { seal_input: null }, { seal_input: 1 }, { sealed_input: text }]) {
    const refused = await server.call('POST', '/jobs', { ...charge('b'), ...more });
    assert.equal(refused.status, 400, JSON.stringify(more));
  }
  const refused = await server.call('POST', '/jobs', { command: 'cat', input: { not: 'a text' }, seal_input: true });
  assert.deepEqual(
    [refused.status, refused.body.errors[0].pointer],
    [400, '/input'],
    'it is checked before it is sealed',
  );
});

test('sealed input: it cannot be moved to a variable, nor a variable to it', async () => {
  const { store, ...rest } = await (RAW_STORES['memory'] as NonNullable<(typeof RAW_STORES)['memory']>)();
  await using _given = rest;
  await using server = await openTestServer({ store });
  const { id } = await made(server, 'POST', '/jobs', { ...charge('a'), env: { A: '"a-text"' } });
  const [job] = await store.read([Number(id)], NEVER);
  assert.ok(job !== undefined && job.sealedInput !== null);
  const { sealed } = job.env['A'] as { sealed: string };
  const aJob: NewJob = {
    ...DEFAULT_SPEC,
    handler: 'charge',
    maxAttempts: 1,
    runAt: null,
    delayMs: null,
    unique: null,
    dependsOn: [],
  };
  const moved = [
    { ...aJob, env: { A: { sealed: job.sealedInput } } },
    { ...aJob, sealInput: true, sealedInput: sealed },
  ];
  const { items } = await store.insert(moved, {}, NEVER);
  assert.deepEqual([...(await claimAll(server)).keys()], [id]);
  const errors = await Promise.all(items.map((each) => made(server, 'GET', `/jobs/${each.job.id}`)));
  assert.deepEqual(
    errors.map(({ error }) => error.split(':')[0]),
    ['the value of A in env cannot be read', 'the input cannot be read'],
  );
});
