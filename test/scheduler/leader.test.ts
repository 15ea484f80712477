/** Duties that one instance of several performs, on one store with a clock that the test moves. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aJob } from '../../contract/kit/builders.ts';
import { VirtualClock } from '../../contract/kit/clock.ts';
import { claimOne, forever, readOne, submitOne } from '../../contract/kit/steps.ts';
import { type Log, silentLog } from '../../src/ops/log.ts';
import type { Loop } from '../../src/ops/loop.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import type { SchedulerContext } from '../../src/scheduler/context.ts';
import { Leader } from '../../src/scheduler/duties/leader.ts';
import { reaper } from '../../src/scheduler/duties/reaper.ts';
import { JobLog } from '../../src/scheduler/job-log.ts';
import { ClaimWaits } from '../../src/scheduler/leases/claim-waits.ts';
import { IdleClaims } from '../../src/scheduler/leases/idle-claims.ts';
import { SharedPolling } from '../../src/scheduler/leases/shared-polling.ts';
import { NO_TARGETS } from '../../src/scheduler/notify/targets.ts';
import { Sealing } from '../../src/scheduler/secrets/sealing.ts';
import { Telemetry } from '../../src/scheduler/telemetry.ts';
import type { Hint } from '../../src/store/hint.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';

interface Told {
  level: string;
  message: string;
  fields: Record<string, unknown>;
}

/** Several instances on one store that is shared, as PostgreSQL is, unless one owns it. */
function cluster({ exclusive = false } = {}) {
  const clock = new VirtualClock();
  const listeners = new Set<(hint: Hint) => void>();
  const memory = openMemory({ clock });
  const store: Store = {
    ...memory,
    exclusive,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const instance = (instanceId: string) => {
    const told: Told[] = [];
    const note = (level: string) => (fields: object, message: string) =>
      void told.push({ level, message, fields: fields as Record<string, unknown> });
    const log: Log = { ...silentLog, debug: note('debug'), info: note('info'), warn: note('warn') };
    const metrics = new Metrics('0', instanceId);
    const telemetry = new Telemetry({ metrics, instanceId, log: new JobLog(silentLog), now: () => 0 });
    const shared = { store, clock, random: () => 0.5, log, telemetry, instanceId };
    const polls = new SharedPolling(store, clock);
    const claimWaits = new ClaimWaits();
    const context: SchedulerContext = {
      ...shared,
      notify: NO_TARGETS,
      secretKeys: null,
      sealing: new Sealing(store, null),
      idle: new IdleClaims(),
      polls,
      claimWaits,
      inputChecks: new Map(),
    };
    const gauge = async () => (await metrics.leader.get()).values.map(({ value }) => value);
    return { context, leader: new Leader(context), told, gauge };
  };
  const endSessions = () => listeners.forEach((listener) => listener({ topic: 'leadership' }));
  return { clock, store, instance, endSessions };
}

/** A loop that notes its rounds. */
function noting(rounds: string[], name: string): Loop {
  return {
    name,
    everyMs: 1_000,
    async tick() {
      rounds.push('round');
      return undefined;
    },
    async standby() {
      rounds.push('standby');
    },
  };
}

test('leader: only the leader runs rounds, the other instance stands by; the gauge shows the leader', async () => {
  const { instance } = cluster();
  const [one, two] = [instance('one'), instance('two')];
  const [rounds, others]: [string[], string[]] = [[], []];
  const mine = one.leader.lead('promoter', () => noting(rounds, 'promoter'));
  const theirs = two.leader.lead('promoter', () => noting(others, 'promoter'));
  await mine.tick(forever);
  assert.deepEqual([rounds, await one.gauge()], [['standby'], [0]]);
  await one.leader.loop.tick(forever);
  await two.leader.loop.tick(forever);
  await mine.tick(forever);
  await theirs.tick(forever);
  assert.deepEqual([rounds, others], [['standby', 'round'], ['standby']]);
  assert.deepEqual([await one.gauge(), await two.gauge()], [[1], [0]]);
});

test('leader: contention is logged once at debug, with duty, instance and holder', async () => {
  const { instance, clock } = cluster();
  const [one, two] = [instance('one'), instance('two')];
  one.leader.lead('promoter', () => noting([], 'promoter'));
  two.leader.lead('promoter', () => noting([], 'promoter'));
  await one.leader.loop.tick(forever);
  for (let round = 0; round < 3; round += 1) {
    await two.leader.loop.tick(forever);
    clock.advance(500);
  }
  assert.deepEqual(
    two.told.map(({ level, fields }) => [level, fields['duty'], fields['instance_id'], fields['holder']]),
    [['debug', 'promoter', 'two', 'one']],
  );
});

test('leader: looks again when the term is over, at the latest after a second; renews well before', async () => {
  const { instance, clock } = cluster();
  const [one, two] = [instance('one'), instance('two')];
  one.leader.lead('promoter', () => noting([], 'promoter'));
  two.leader.lead('promoter', () => noting([], 'promoter'));
  assert.equal(await one.leader.loop.tick(forever), 2_000);
  assert.equal(await two.leader.loop.tick(forever), 1_000);
  clock.advance(4_550);
  const left = (await two.leader.loop.tick(forever)) ?? 0;
  assert.ok(left * 0.9 >= 450 && left < 600, `${left}`);
  clock.advance(460);
  assert.equal(one.leader.leads('promoter'), false);
  await two.leader.loop.tick(forever);
  assert.equal(two.leader.leads('promoter'), true);
});

test('leader: the owner of a store renews once an hour, and leads again soon after its clock was changed', async () => {
  const { instance, clock, store } = cluster({ exclusive: true });
  const { leader, context } = instance('one');
  let calls = 0;
  context.store = {
    ...store,
    lead: (request, signal) => {
      calls += 1;
      return store.lead(request, signal);
    },
  };
  leader.lead('promoter', () => noting([], 'promoter'));
  const pass = async (untilMs: number) => {
    for (let past = 0; past < untilMs; ) {
      const wait = (await leader.loop.tick(forever)) ?? 0;
      assert.ok(wait > 0 && wait <= 10_000, `${wait}`);
      clock.advance(wait);
      past += wait;
    }
  };
  await pass(3 * 3_600_000);
  assert.equal(leader.leads('promoter'), true);
  assert.ok(calls >= 3 && calls <= 4, `${calls}`);

  clock.advance(3 * 86_400_000);
  assert.equal(leader.leads('promoter'), false);
  await leader.loop.tick(forever);
  assert.equal(leader.leads('promoter'), true);
});

test('leader: one whose session with the store has ended stops at once', async () => {
  const { instance, endSessions } = cluster();
  const one = instance('one');
  const rounds: string[] = [];
  const loop = one.leader.lead('promoter', () => noting(rounds, 'promoter'));
  await one.leader.loop.tick(forever);
  assert.equal(one.leader.leads('promoter'), true);
  endSessions();
  assert.deepEqual([one.leader.leads('promoter'), await one.gauge()], [false, [0]]);
  await loop.tick(forever);
  assert.deepEqual(rounds, ['standby']);
});

test('leader: an answer that was under way when the session ended gives nothing back', async () => {
  const { instance, store, endSessions } = cluster();
  const one = instance('one');
  one.leader.lead('promoter', () => noting([], 'promoter'));
  await one.leader.loop.tick(forever);
  const before = { ...store };
  store.lead = async (request, signal) => {
    const answer = await before.lead(request, signal);
    endSessions();
    return answer;
  };
  await one.leader.loop.tick(forever);
  assert.equal(one.leader.leads('promoter'), false);
});

test('leader: what it writes after another has taken over changes nothing, and is no failure', async () => {
  const { instance, store, clock } = cluster();
  const [one, two] = [instance('one'), instance('two')];
  const { id } = await submitOne(store, aJob({ delayMs: 1_000 }));
  const late = one.leader.lead('promoter', ({ store: mine }) => ({
    name: 'promoter',
    everyMs: 1_000,
    async tick() {
      // The process is frozen in the middle of its round.
      clock.advance(6_000);
      await two.leader.loop.tick(forever);
      await mine.promote(10, forever);
      return undefined;
    },
  }));
  two.leader.lead('promoter', () => noting([], 'promoter'));
  await one.leader.loop.tick(forever);
  await late.tick(forever);
  assert.equal((await readOne(store, id)).status, 'scheduled');
  assert.deepEqual([one.leader.leads('promoter'), two.leader.leads('promoter')], [false, true]);
});

test('leader: who resigns is followed at once', async () => {
  const { instance } = cluster();
  const [one, two] = [instance('one'), instance('two')];
  one.leader.lead('promoter', () => noting([], 'promoter'));
  two.leader.lead('promoter', () => noting([], 'promoter'));
  await one.leader.loop.tick(forever);
  await one.leader.resign(forever);
  await two.leader.loop.tick(forever);
  assert.deepEqual([one.leader.leads('promoter'), two.leader.leads('promoter')], [false, true]);
});

test('reaper: who takes over has watched the store all along, and takes back without waiting for another lease', async () => {
  const { instance, store, clock } = cluster();
  const two = instance('two');
  const settings = { everyMs: 10_000, leaseMs: 30_000, forgetAfterMs: 86_400_000 };
  await store.lead({ instanceId: 'one', duties: [{ duty: 'reaper', term: null }], termMs: 35_000 }, forever);
  const loop = two.leader.lead('reaper', (context) => reaper(context, settings));
  const { job } = await claimOne(store, aJob());
  for (let round = 0; round < 4; round += 1) {
    await two.leader.loop.tick(forever);
    await loop.tick(forever);
    assert.equal((await readOne(store, job.id)).status, 'running');
    clock.advance(10_000);
  }
  await two.leader.loop.tick(forever);
  await loop.tick(forever);
  assert.equal((await readOne(store, job.id)).status, 'pending');
});
