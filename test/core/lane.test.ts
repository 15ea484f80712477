import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fits,
  type Lane,
  laneFromKey,
  laneKey,
  laneOf,
  needsResources,
  type Offer,
  serves,
} from '../../src/core/lane.ts';

const plain: Lane = { queue: 'q', kind: '', requires: [], resources: {}, metered: false, gang: false };
const everything: Offer = { queues: null, commands: true, handlers: ['h'], tags: ['gpu', 'eu'], free: {} };

test('lane: of a spec is its queue, kind and needs', () => {
  const spec = { queue: 'q', requires: ['gpu'], resources: { m: 1 }, limits: [], rates: [], gang: null };
  assert.deepEqual(laneOf({ ...spec, handler: null }), { ...plain, requires: ['gpu'], resources: { m: 1 } });
  assert.equal(laneOf({ ...spec, handler: 'h' }).kind, 'h');
  assert.equal(laneOf({ ...spec, handler: null, limits: [{ key: 'k', max: 1 }] }).metered, true);
});

test('lane: equal lanes have equal keys, however they were written', () => {
  const key = laneKey({ ...plain, requires: ['a', 'b'], resources: { x: 1, y: 2 } });
  assert.equal(laneKey({ ...plain, requires: ['b', 'a', 'b'], resources: { y: 2, x: 1, z: 0 } }), key);
});

test('lane: different lanes have different keys', () => {
  const lanes: Lane[] = [
    plain,
    { ...plain, queue: 'q2' },
    { ...plain, kind: 'h' },
    { ...plain, requires: ['h'] },
    { ...plain, requires: ['a', 'b'] },
    { ...plain, requires: ['a,b'] },
    { ...plain, requires: ['a","b'] },
    { ...plain, resources: { a: 1 } },
    { ...plain, resources: { a: 2 } },
    { ...plain, resources: { a: 1, b: 1 } },
    { ...plain, metered: true },
    { ...plain, gang: true },
    { ...plain, requires: ['gang'] },
    { ...plain, metered: true, gang: true },
  ];
  assert.equal(new Set(lanes.map(laneKey)).size, lanes.length);
});

test('lane: a key says all there is about its lane', () => {
  const lane: Lane = {
    queue: 'ü "q"',
    kind: 'h',
    requires: ['b', 'a'],
    resources: { y: 0.5, x: 2 },
    metered: true,
    gang: true,
  };
  const again = laneFromKey(laneKey(lane));
  assert.deepEqual(again, { ...lane, requires: ['a', 'b'] });
  assert.equal(laneKey(again), laneKey(lane));
});

test('lane: a worker serves its queues, its kinds, and what its tags allow', () => {
  assert.equal(serves(everything, plain), true);
  assert.equal(serves({ ...everything, queues: ['q'] }, plain), true);
  assert.equal(serves({ ...everything, queues: ['other'] }, plain), false);
  assert.equal(serves({ ...everything, queues: [] }, plain), false);
  assert.equal(serves({ ...everything, commands: false }, plain), false);
  assert.equal(serves({ ...everything, commands: false }, { ...plain, kind: 'h' }), true);
  assert.equal(serves(everything, { ...plain, kind: 'g' }), false);
  assert.equal(serves(everything, { ...plain, requires: ['eu', 'gpu'] }), true);
  assert.equal(serves({ ...everything, tags: ['eu'] }, { ...plain, requires: ['eu', 'gpu'] }), false);
});

test('lane: as many fit as the scarcest resource allows', () => {
  const lane = { ...plain, resources: { m: 400, gpu: 1, none: 0 } };
  assert.equal(fits(lane, { m: 2_000, gpu: 3 }, 10), 3);
  assert.equal(fits(lane, { m: 799, gpu: 3 }, 10), 1);
  assert.equal(fits(lane, { m: 2_000 }, 10), 0);
  assert.equal(fits(lane, { m: 9_999, gpu: 9 }, 2), 2);
  assert.equal(fits(plain, {}, 5), 5);
});

test('lane: a resource of which it takes nothing is no need', () => {
  assert.equal(needsResources({ ...plain, resources: { gpu: 0 } }), false);
  assert.equal(needsResources({ ...plain, resources: { gpu: 0.1 } }), true);
  assert.equal(needsResources(plain), false);
});
