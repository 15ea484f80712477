import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GangRow, Place } from '../../src/core/gang.ts';
import { fateOf } from '../../src/core/gang-fate.ts';
import { DEFAULT_SPEC, type Job, type Status } from '../../src/core/job.ts';

const NOW = 1_000;
const RULES = { id: 'g', size: 2, min: 2, spread: 'pack', onMemberFailure: 'restart', timeoutMs: 60_000 } as const;
const GANG: GangRow = { id: 'g', jobId: 1, term: 1, failures: 0, charged: 0, stops: 0, stopping: false };

interface Wanted {
  status: Status;
  started?: boolean;
  job?: Partial<Job>;
  success?: Place['success'];
  /** It has no place in this term. */
  leftOut?: boolean;
}

/** A gang of members, rank by rank. */
function fate(members: readonly Wanted[], wanted: { gang?: Partial<GangRow>; online?: readonly number[] } = {}) {
  const places = members.map(({ started = true, success = null, leftOut = false }, rank): Place => {
    const held = { gangId: 'g', rank, size: members.length, accepted: true, started, until: NOW + 60_000, success };
    return { jobId: rank + 1, workerId: leftOut ? null : 7, ...held };
  });
  const jobs = members.map(({ status, job }, rank) => {
    const own = { id: rank + 1, status, failures: 0, cancelRequestedAt: null, gangStop: false };
    return { ...DEFAULT_SPEC, ...own, gang: { ...RULES, rank }, ...job } as Job;
  });
  const around = { jobs: new Map(jobs.map((job) => [job.id, job])), online: new Set(wanted.online ?? [7]), now: NOW };
  const { events, ...rest } = fateOf({ ...GANG, ...wanted.gang }, places, around);
  return { ...rest, events: [...events].map(([id, { type }]) => `${id} ${type}`) };
}

const SUCCESS = { exitCode: 0, result: null };
const HELD: Wanted = { status: 'blocked', success: SUCCESS };

test('gang fate: nothing happens while members run or have succeeded', () => {
  const nothing = { stop: false, drop: null, events: [] };
  assert.deepEqual(fate([{ status: 'running' }, { status: 'running' }]), nothing);
  assert.deepEqual(fate([{ status: 'running' }, HELD]), nothing);
});

test('gang fate: all members are done together', () => {
  assert.deepEqual(fate([HELD, HELD]).events, ['1 finish', '2 finish']);
});

test('gang fate: a member that has come back stops the others, once', () => {
  const failed = { status: 'pending', job: { failures: 1 } } as const;
  const stopped = fate([failed, { status: 'running' }]);
  assert.deepEqual(stopped, { stop: true, drop: null, events: ['2 stop'] });
  assert.equal(fate([failed, { status: 'running' }], { gang: { stopping: true } }).stop, false);
  assert.equal(fate([{ status: 'pending' }, { status: 'running' }]).stop, true);
});

test('gang fate: places are given up only when the stop is written and nobody runs or has succeeded', () => {
  const back = { status: 'pending' } as const;
  assert.equal(fate([back, back]).drop, null, 'a member may have started since the places were read');
  assert.equal(fate([back, back], { gang: { stopping: true } }).drop, 'always');
  const early = fate([back, HELD], { gang: { stopping: true } });
  assert.deepEqual([early.drop, early.events], [null, ['2 stop']]);
  assert.equal(fate([back, { status: 'running' }], { gang: { stopping: true } }).drop, null);
});

test('gang fate: a member that did not start since its worker vanished stops the others', () => {
  const late = { status: 'pending', started: false } as const;
  assert.equal(fate([late, { status: 'running' }]).stop, false);
  assert.equal(fate([late, { status: 'running' }], { online: [] }).stop, true);
});

test('gang fate: the end of one member, and a person’s cancel, end the others', () => {
  assert.deepEqual(fate([{ status: 'failed' }, { status: 'running' }]).events, ['2 cancel']);
  assert.deepEqual(fate([{ status: 'cancelled' }, HELD]).events, ['2 cancel']);
  const asked = { status: 'running', job: { cancelRequestedAt: 1 } } as const;
  assert.deepEqual(fate([asked, { status: 'running' }]).events, ['1 cancel', '2 cancel']);
  const stopped = { status: 'running', job: { cancelRequestedAt: 1, gangStop: true } } as const;
  assert.deepEqual(fate([stopped, { status: 'running' }], { gang: { stopping: true } }).events, ['1 stop', '2 stop']);
});

test('gang fate: a member that is left out is skipped when the others have succeeded, and is otherwise in nobody’s way', () => {
  const out: Wanted = { status: 'pending', started: false, leftOut: true };
  const running: Wanted = { status: 'running' };
  assert.deepEqual(fate([running, out]), { stop: false, drop: null, events: [] });
  assert.deepEqual(fate([HELD, out]).events, ['1 finish', '2 leave']);
  assert.deepEqual(fate([{ status: 'done' }, out]).events, ['2 leave'], 'a round that stopped halfway');
  const left: Wanted = { ...out, status: 'skipped', job: { reason: 'gang' } };
  assert.deepEqual(fate([HELD, left]).events, ['1 finish'], 'a round that stopped halfway');
  assert.deepEqual(fate([{ status: 'failed' }, out]).events, ['2 cancel']);
  assert.deepEqual(fate([{ status: 'cancelled' }, { ...running, started: false }, out]).events, [
    '2 cancel',
    '3 cancel',
  ]);
  const given: Wanted = { status: 'pending', started: false };
  assert.equal(fate([given, out]).drop, null);
  assert.equal(fate([given, out], { online: [] }).drop, 'unless started');
  const back: Wanted = { status: 'pending' };
  assert.equal(fate([back, { ...out, started: true }], { gang: { stopping: true } }).drop, 'always');
});
