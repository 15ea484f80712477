/** Every reason to wait has words, and what all jobs of a kind wait for does not name one of them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Waiting } from '../../src/api/waiting.ts';
import { sharedWaitText, waitingText } from '../../src/api/words/waiting.ts';

const AT = '2026-01-31T09:00:00.000Z';
const worker = { id: '4', name: 'box' };
const at = () => 'nine';

const WAITS: readonly Waiting[] = [
  { code: 'start_time', at: AT },
  { code: 'retry', at: AT, failures: 1, max_attempts: 3 },
  { code: 'steps', since: AT, at: AT, waits: [{ name: 'nap', kind: 'sleep', until: AT, tries: 0 }] },
  { code: 'parent', job: '7', name: 'extract', status: 'running', others: 2 },
  { code: 'parents_ended' },
  { code: 'stop', for_gang: false },
  { code: 'paused', queue: 'mail' },
  { code: 'worker', lacks: 'tag', what: 'gpu', resources: {}, most: {} },
  { code: 'slot', queue: 'mail', ahead: 1, worker: { ...worker, running: 2, slots: 2, is_free: false }, others: 1 },
  {
    code: 'resources',
    queue: 'mail',
    ahead: 0,
    resources: { gpu: 2 },
    short: { ...worker, resource: 'gpu', free: 1, total: 4 },
    reserved: { ...worker, for_job: '9', starts_at: AT },
  },
  { code: 'max_running', queue: 'mail', running: 2, max: 2, kept: 1, ahead: 10_000, starts_at: null },
  { code: 'limit', key: 'customer:42', running: 3, max: 3, ahead: 11, starts_at: AT },
  {
    code: 'rate',
    key: null,
    queue: 'mail',
    started: 5,
    max: 5,
    per: 60_000,
    opens_at: AT,
    kept: 2,
    ahead: 0,
    starts_at: AT,
  },
  { code: 'rate_kept', queue: 'mail', left: 1, ahead: 0 },
  { code: 'gang_succeeded', succeeded: 1, size: 2 },
  { code: 'gang_started', members: 2, size: 3 },
  { code: 'gang_stopping' },
  { code: 'gang_earlier', members: 2, size: 3 },
  { code: 'gang_incomplete', waiting: 2, size: 3, has_ended: false },
  { code: 'gang_start' },
  { code: 'gang_places', held: 1, members: 2, worker },
  { code: 'gang_max_running', queue: 'mail', max: 2, needed: 3 },
  { code: 'gang_rate', queue: 'mail', max: 2, needed: 3 },
  { code: 'gang_room', waiting: 8, size: 8, min: 8, free: 1, idle: 4, needed: 8 },
  { code: 'gang_queue_full', queue: 'mail', running: 1, max: 2, needed: 3 },
  { code: 'gang_rate_left', queue: 'mail', left: 1, needed: 3, starts_at: AT },
];

test('waiting: every code is here once, fits its schema, and has words without gaps', () => {
  const codes = Waiting.options.map(({ shape }) => shape.code.value);
  assert.deepEqual(
    WAITS.map(({ code }) => code),
    codes,
  );
  for (const wait of WAITS) {
    assert.deepEqual(Waiting.parse(wait), wait);
    assert.doesNotMatch(waitingText(wait, { at }), /undefined|null|NaN|2026/, wait.code);
  }
});

test('waiting: sentences say what is missing, where the job stands, and when it may start', () => {
  const text = (code: Waiting['code']) => waitingText(WAITS.find((wait) => wait.code === code) as Waiting, { at });
  assert.equal(text('worker'), 'a worker with tag gpu: none is online');
  assert.equal(text('parent'), 'job 7 (extract), which is running, and 2 more');
  assert.equal(
    text('limit'),
    'a place under the limit of customer:42: 3 of 3 run, 12th in line, expected to start by nine',
  );
  assert.equal(
    text('rate'),
    'the rate of queue mail: 5 of 5 have started within 60 s, it opens at nine, the next 2 are kept for gangs; 1st in line, expected to start at nine',
  );
  assert.equal(text('gang_room'), '8 free slots (gang): all online workers together have fewer, even when idle: 4');
  assert.equal(
    text('resources'),
    'gpu 2 of a worker: gpu is in use, at most 1 of 4 is free on worker 4 (box); what becomes free on worker 4 (box) is reserved for it, expected to start by nine; it is next in queue mail',
  );
});

test('waiting: what a list says of all jobs of a kind names no position and no instant', () => {
  const shared = WAITS.flatMap((wait) => sharedWaitText(wait) ?? []);
  assert.deepEqual(shared, [
    'queue mail to be resumed: it is paused',
    'a worker with tag gpu: none is online',
    'queue mail: 2 of 2 run (max_running)',
    'the limit of customer:42: 3 of 3 run',
    'the rate of queue mail',
    '8 free slots (gang): all online workers together have fewer, even when idle: 4',
  ]);
});
