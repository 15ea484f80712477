import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClaimedJob, ClaimedJobs, claimedJobsFromWire, claimedJobsToText } from '../../src/api/claim.ts';
import { DEFAULT_SPEC, type ClaimedJob as DomainClaimedJob } from '../../src/core/job.ts';

const JOB: DomainClaimedJob = {
  ...DEFAULT_SPEC,
  command: 'x',
  id: 5,
  attempt: 2,
  failures: 1,
  dueAt: 1_000,
  startedAt: 2_000,
  runContext: {
    workflow: null,
    params: { date: 'x', list: [1] },
    item: { value: { a: null }, index: 3 },
    parents: [{ jobId: 4, key: 'k', status: 'skipped', result: null }],
  },
};

const EACH = { results_once: false, alike_once: false };
const ONCE = { results_once: true, alike_once: true };
const PLAIN: DomainClaimedJob = { ...JOB, runContext: null, prefetched: true };

function itemsIn(text: string): ClaimedJob[] {
  return ClaimedJobs.parse(JSON.parse(text)).items;
}

function sent(jobs: DomainClaimedJob[], form = EACH): ClaimedJob[] {
  return itemsIn(claimedJobsToText(jobs, form, Number.POSITIVE_INFINITY).text);
}

test('a claimed job survives the wire with its runContext', () => {
  assert.deepEqual(claimedJobsFromWire(sent([JOB])), [JOB]);
  const alone = { ...JOB, runContext: null };
  assert.deepEqual(claimedJobsFromWire(sent([alone])), [alone]);
});

test('a scheduler that knows nothing of run_context is understood', () => {
  const [{ run_context: _, ...older }] = sent([JOB]) as [ClaimedJob];
  assert.equal(claimedJobsFromWire(itemsIn(JSON.stringify({ items: [older] })))[0]?.runContext, null);
});

test('a result that several jobs share is sent once, where the worker can read that', () => {
  const shared = { jobId: 4, key: 'k', status: 'done' as const, result: { list: ['x'] } };
  const own = { jobId: 6, key: 'l', status: 'failed' as const, result: null };
  const around = (id: number, parents: (typeof shared | typeof own)[]) => {
    return { ...JOB, id, runContext: { workflow: { id: 5, step: 's' }, params: {}, item: null, parents } };
  };
  const jobs = [around(7, [shared]), around(8, [shared, own]), around(9, [own])];
  const wire = sent(jobs, ONCE);
  const results = wire.map(({ run_context: runContext }) =>
    runContext?.parents.map((parent) => Object.hasOwn(parent, 'result')),
  );
  assert.deepEqual(results, [[true], [false, true], [false]]);
  assert.deepEqual(claimedJobsFromWire(wire), jobs);
  assert.ok(
    sent(jobs).every(({ run_context: runContext }) =>
      runContext?.parents.every((parent) => Object.hasOwn(parent, 'result')),
    ),
  );
});

test('jobs that are alike are sent with the first of them, where the worker can read that', () => {
  const other = { ...PLAIN, id: 8, attempt: 3 };
  const jobs = [
    { ...PLAIN, input: { n: 1 } },
    { ...PLAIN, id: 6, input: 'two' },
    { ...PLAIN, id: 7, dueAt: 5_000, input: null },
    other,
    { ...other, id: 9 },
    { ...PLAIN, id: 10 },
  ];
  const once = claimedJobsToText(jobs, ONCE, Number.POSITIVE_INFINITY);
  assert.deepEqual(
    itemsIn(once.text).map(({ id, alike }) => [id, alike?.map((job) => job.id)]),
    [
      ['5', ['6', '7']],
      ['8', ['9']],
      ['10', undefined],
    ],
  );
  const each = claimedJobsToText(jobs, EACH, Number.POSITIVE_INFINITY);
  assert.ok(itemsIn(each.text).every(({ alike }) => alike === undefined));
  for (const { text, count } of [once, each]) {
    assert.equal(count, jobs.length);
    assert.deepEqual(claimedJobsFromWire(itemsIn(text)), jobs);
  }
});

test('jobs that differ in anything but id, due time and input are not alike', () => {
  const others: Partial<Record<keyof DomainClaimedJob, unknown>> = {
    attempt: 1,
    failures: 0,
    startedAt: 3_000,
    prefetched: undefined,
    secretEnv: ['TOKEN'],
    runContext: JOB.runContext,
    gangContext: { hosts: ['a'] },
    timeoutMs: 1,
    tags: ['x'],
  };
  for (const [property, value] of Object.entries(others)) {
    const jobs = [PLAIN, { ...PLAIN, id: 6, [property]: value }];
    assert.equal(sent(jobs, ONCE).length, 2, property);
  }
});

test('a reply has no more jobs than fit into it, but one at least', () => {
  const jobs = [1, 2, 3, 4].map((id) => ({ ...PLAIN, id, input: 'x'.repeat(1_000) }));
  for (const form of [ONCE, EACH]) {
    const all = claimedJobsToText(jobs, form, 1e6).text.length;
    const { text, count } = claimedJobsToText(jobs, form, all - 1_000);
    assert.deepEqual(claimedJobsFromWire(itemsIn(text)), jobs.slice(0, 3));
    assert.equal(count, 3);
    assert.equal(claimedJobsToText(jobs, form, 10).count, 1);
  }
});
