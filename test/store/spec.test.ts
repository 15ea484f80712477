import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SPEC, type JobSpec } from '../../src/core/job.ts';
import { sameButInput } from '../../src/core/same-but-input.ts';
import { decodeSpec, encodeSpec, itemOf, withItem } from '../../src/store/spec.ts';

const EVERYTHING: JobSpec = {
  name: 'report',
  queue: 'mail',
  priority: -7,
  command: null,
  handler: 'send',
  input: { to: ['a', 'b'], deep: { null: null } },
  sealInput: true,
  sealedInput: 'k1:c2VhbGVk',
  maxAttempts: 1,
  backoff: { type: 'fixed', baseMs: 1, factor: 1, capMs: 2, jitter: 0 },
  retryOn: [],
  noRetryOn: [2, 3],
  timeoutMs: 1,
  startTimeoutMs: 0,
  killGraceMs: 0,
  rerun: 'never',
  onDisconnect: 'finish',
  env: { A: '1', '': 'x' },
  cwd: '/',
  tags: ['x'],
  requires: ['gpu'],
  resources: { memory_mb: 512 },
  fairKey: 'tenant',
  limits: [{ key: 'customer:42', max: 3 }],
  rates: [{ key: 'api', limit: 10, perMs: 1_000, burst: 2 }],
  onLimit: 'skip',
  gang: { id: 'g1', rank: 1, size: 3, min: 2, spread: 'pack', onMemberFailure: 'fail', timeoutMs: 5_000 },
  continueOnFailure: true,
  notify: [{ on: ['failed'], target: { type: 'command', command: 'mail' }, lateAfterMs: 60_000 }],
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

test('spec: what was stored is what is read, defaults and all', () => {
  for (const spec of [DEFAULT_SPEC, { ...DEFAULT_SPEC, command: 'true' }, EVERYTHING]) {
    const stored = JSON.parse(JSON.stringify(encodeSpec(spec))) as ReturnType<typeof encodeSpec>;
    assert.deepEqual(decodeSpec(stored), spec);
  }
});

test('spec: only what is not a default is stored', () => {
  const plain = { ...DEFAULT_SPEC, command: 'true', backoff: { ...DEFAULT_SPEC.backoff }, env: {}, requires: [] };
  assert.deepEqual(encodeSpec(plain).spec, { command: 'true' });
});

test('spec: properties that a spec does not have are not stored', () => {
  const wider = { ...DEFAULT_SPEC, command: 'true', runAt: 5, id: 7 };
  assert.deepEqual(encodeSpec(wider).spec, { command: 'true' });
});

test('spec: falsy values that are no defaults are kept', () => {
  for (const input of [0, false, '']) {
    assert.equal(decodeSpec(encodeSpec({ ...DEFAULT_SPEC, handler: 'h', input })).input, input);
  }
});

test('spec: an input that is to be sealed is not stored before it is', () => {
  const spec = { ...DEFAULT_SPEC, handler: 'h', input: 'plain', sealInput: true };
  assert.throws(() => encodeSpec(spec), /to be sealed/);
});

test('spec: a decoded spec shares nothing with the defaults', () => {
  const first = decodeSpec(encodeSpec(DEFAULT_SPEC));
  (first.env as Record<string, string>)['A'] = '1';
  first.backoff.baseMs = 1;
  assert.deepEqual(decodeSpec(encodeSpec(DEFAULT_SPEC)), DEFAULT_SPEC);
});

test('spec: an item has its value beside its spec, whatever it is', () => {
  const columns = encodeSpec({ ...DEFAULT_SPEC, command: 'true' });
  for (const value of [null, 0, '', false, { deep: [1] }]) {
    const stored = JSON.parse(JSON.stringify(withItem(columns, value))) as typeof columns;
    assert.deepEqual(itemOf(stored.spec), value);
    assert.deepEqual(decodeSpec(stored), decodeSpec(columns));
  }
  assert.equal(itemOf(columns.spec), undefined);
});

test('spec: two are the same but for their inputs only if nothing else differs', () => {
  assert.ok(sameButInput({ ...EVERYTHING, input: 1 }, { ...EVERYTHING, input: 2 }));
  assert.ok(sameButInput({ ...EVERYTHING, sealedInput: 'a' }, { ...EVERYTHING, sealedInput: 'b' }));
  for (const property of Object.keys(DEFAULT_SPEC) as (keyof JobSpec)[]) {
    if (property === 'input' || property === 'sealedInput') continue;
    assert.ok(!sameButInput(EVERYTHING, { ...EVERYTHING, [property]: 'other' }), property);
  }
});
