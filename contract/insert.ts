import assert from 'node:assert/strict';
import { DEFAULT_SPEC, type JobSpec } from '../src/core/job.ts';
import { aJob, anOffer, jobs } from './kit/builders.ts';
import { claim, forever, ids, readOne, register, submit, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** A job in which no field has its default value. */
const EVERYTHING: JobSpec = {
  name: 'nightly report ✓',
  queue: 'reports',
  priority: -32_768,
  command: null,
  handler: 'report',
  input: { list: [1, 'zwei', null, { deep: true }], empty: {}, text: 'a\nb\t"c" \\ ü 漢 🚀' },
  sealInput: true,
  sealedInput: 'k1:c2VhbGVk',
  maxAttempts: 7,
  backoff: { type: 'fixed', baseMs: 1_234, factor: 1.5, capMs: 99_999, jitter: 0.35 },
  retryOn: [1, 2],
  noRetryOn: [3],
  timeoutMs: 1,
  startTimeoutMs: 86_400_000,
  killGraceMs: 0,
  rerun: 'never',
  onDisconnect: 'finish',
  env: { GREETING: 'hello\nworld', EMPTY: '' },
  cwd: '/srv',
  tags: ['b', 'a', 'b'],
  requires: ['gpu', 'eu'],
  resources: { memory_mb: 512, gpu: 1 },
  fairKey: 'tenant-1',
  limits: [{ key: 'customer:42', max: 3 }],
  rates: [{ key: 'api', limit: 10, perMs: 1_000, burst: 2 }],
  onLimit: 'skip',
  gang: { id: 'g1', rank: 1, size: 3, min: 2, spread: 'pack', onMemberFailure: 'fail', timeoutMs: 5_000 },
  continueOnFailure: true,
  notify: [{ on: ['failed', 'recovered'], target: { type: 'webhook', url: 'https://example.com/' }, lateAfterMs: 1 }],
  tick: {
    schedule: 'nightly',
    line: 7,
    key: 'tenant-a',
    kind: 'tick',
    scheduledFor: 3_600_000,
    intervalStart: 0,
    intervalEnd: 3_600_000,
    catchup: true,
  },
  submittedBy: 'ada@example.org',
};

export function exerciseInsert(open: OpenStore): void {
  const test = withStore(open);

  test('insert: a due job is pending, without attempts, result or error', async ({ store }) => {
    const before = await store.now(forever);
    const job = await submitOne(store, aJob({ command: 'echo hi' }));
    const after = await store.now(forever);

    const { id, createdAt, dueAt, ...rest } = job;
    assert.ok(id > 0);
    assert.ok(createdAt >= before && createdAt <= after);
    assert.equal(dueAt, createdAt);
    assert.deepEqual(rest, {
      ...DEFAULT_SPEC,
      command: 'echo hi',
      status: 'pending',
      attempt: 0,
      failures: 0,
      interruptions: 0,
      snoozes: 0,
      losses: 0,
      startedAt: null,
      doneAt: null,
      workerId: null,
      lastHeartbeatAt: null,
      cancelRequestedAt: null,
      gangStop: false,
      expiresAt: null,
      exitCode: null,
      signal: null,
      error: null,
      thrown: null,
      reason: null,
      result: null,
      progress: null,
      checkpoint: null,
      dependsOn: [],
      workflowId: null,
      stepKey: null,
      groupId: null,
      groupIndex: null,
      rerunOf: null,
      uniqueKey: null,
    });
    assert.deepEqual(await readOne(store, id), job);
  });

  test('insert: every field is read back as it was given', async ({ store }) => {
    const job = await submitOne(store, aJob(EVERYTHING));

    const stored = await readOne(store, job.id);
    assert.deepEqual(stored, { ...stored, ...EVERYTHING });
    assert.equal(stored.status, 'pending');
    assert.equal(stored.expiresAt, stored.dueAt + 86_400_000);
  });

  test('insert: falsy inputs are inputs', async ({ store }) => {
    const inputs = [0, false, '', [], {}];
    const stored = await submit(
      store,
      inputs.map((input) => aJob({ handler: 'h', input })),
    );
    assert.deepEqual(
      (await store.read(ids(stored), forever)).map(({ input }) => input),
      inputs,
    );
  });

  test('insert: jobs that differ only in their input each keep their own', async ({ store }) => {
    const inputs = [null, 'a"b\\"\\\\', '{"x": "\\n"}', { text: 'a\nb\t"c" \\ ü 漢 🚀 \u2028' }, null, [[], {}], -0.5];
    const alike = aJob({
      handler: 'h',
      name: 'x,"{}\\',
      tags: ['a b', '"'],
      priority: 7,
      maxAttempts: 1,
      delayMs: 60_000,
    });
    const stored = await submit(
      store,
      inputs.map((input) => ({ ...alike, input })),
    );
    const read = await store.read(ids(stored), forever);
    assert.deepEqual(read, stored);
    const { name, tags, priority, maxAttempts } = alike;
    read.forEach((job, place) => {
      assert.deepEqual(job, { ...job, name, tags, priority, maxAttempts, status: 'scheduled', input: inputs[place] });
      assert.equal(job.dueAt, job.createdAt + 60_000);
    });
  });

  test('insert: jobs that differ only in their sealed input each keep their own', async ({ store }) => {
    const texts = ['k1:YQ==', 'k1:Yg==', 'k2:Yw=='];
    const alike = aJob({ handler: 'h', sealInput: true });
    const stored = await submit(
      store,
      texts.map((sealedInput) => ({ ...alike, sealedInput })),
    );
    const read = await store.read(ids(stored), forever);
    assert.deepEqual(read, stored);
    assert.deepEqual(
      read.map(({ input, sealInput, sealedInput }) => [input, sealInput, sealedInput]),
      texts.map((text) => [null, true, text]),
    );
    const { id } = await register(store);
    const claimed = await claim(store, id, { limit: 3, offer: anOffer({ handlers: ['h'] }) });
    assert.deepEqual(
      claimed.map(({ sealInput, sealedInput }) => [sealInput, sealedInput]),
      texts.map((text) => [true, text]),
    );
  });

  test('insert: a delayed job is scheduled and due that long after its submission', async ({ store }) => {
    const job = await submitOne(store, aJob({ delayMs: 60_000, startTimeoutMs: 5_000 }));
    assert.equal(job.status, 'scheduled');
    assert.equal(job.dueAt, job.createdAt + 60_000);
    assert.equal(job.expiresAt, job.dueAt + 5_000);
  });

  test('insert: a job with run_at in the future is due then, one in the past is due now', async ({ store }) => {
    const now = await store.now(forever);
    const [later, earlier] = await submit(store, [aJob({ runAt: now + 60_000 }), aJob({ runAt: now - 60_000 })]);
    assert.equal(later?.status, 'scheduled');
    assert.equal(later.dueAt, now + 60_000);
    assert.equal(earlier?.status, 'pending');
    assert.equal(earlier.dueAt, earlier.createdAt);
  });

  test('insert: the reply is in the order of the request, with ascending ids', async ({ store }) => {
    const first = await submit(
      store,
      [3, 1, 2].map((priority) => aJob({ priority })),
    );
    assert.deepEqual(
      first.map(({ priority }) => priority),
      [3, 1, 2],
    );
    const all = ids([...first, ...(await submit(store, jobs(2)))]);
    assert.deepEqual(
      all,
      all.toSorted((a, b) => a - b),
    );
    assert.equal(new Set(all).size, 5);
  });

  test('insert: an empty request returns an empty list', async ({ store }) => {
    assert.deepEqual(await store.insert([], {}, forever), { items: [], replayed: false });
  });

  test('insert: one call stores a thousand jobs', async ({ store }) => {
    const stored = await submit(store, jobs(1_000));
    assert.equal(new Set(ids(stored)).size, 1_000);
    assert.equal(await store.count({}, 10_000, forever), 1_000);
  });

  test('insert: the store and the caller do not share objects', async ({ store }) => {
    const input = { n: 1 };
    const tags = ['a'];
    const job = await submitOne(store, aJob({ handler: 'h', input, tags, env: { A: '1' } }));
    input.n = 2;
    tags.push('b');
    (job.input as { n: number }).n = 3;
    (job.env as Record<string, string>)['A'] = '3';
    const stored = await readOne(store, job.id);
    (stored.input as { n: number }).n = 4;
    const { id } = await register(store);
    const [claimed] = await claim(store, id, { offer: anOffer({ handlers: ['h'] }) });
    assert.ok(claimed);
    (claimed.input as { n: number }).n = 5;

    const again = await readOne(store, job.id);
    assert.deepEqual([again.input, again.tags, again.env], [{ n: 1 }, ['a'], { A: '1' }]);
  });

  test('insert: concurrent submissions get distinct ids', async ({ store }) => {
    const all = await Promise.all(Array.from({ length: 10 }, () => submit(store, jobs(5))));
    assert.equal(new Set(ids(all.flat())).size, 50);
    assert.equal(await store.count({ statuses: ['pending'] }, 100, forever), 50);
  });
}
