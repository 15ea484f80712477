import assert from 'node:assert/strict';
import type { Duty } from '../src/core/duty.ts';
import { isWorkronError } from '../src/core/error.ts';
import type { TermFence } from '../src/core/leadership.ts';
import type { Store } from '../src/store/store.ts';
import { aJob } from './kit/builders.ts';
import { claimOne, findLost, forever, readOne, retireWorkers, submitOne } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

const TERM_MS = 5_000;

/** The reply to one instance about one duty. */
async function lead(store: Store, instanceId: string, duty: Duty, term: number | null = null) {
  const [led] = await store.lead({ instanceId, duties: [{ duty, term }], termMs: TERM_MS }, forever);
  assert.ok(led);
  return led;
}

function isLost(error: unknown): boolean {
  return isWorkronError(error, 'leadership_lost');
}

export function exerciseLeadership(open: OpenStore): void {
  const test = withStore(open);

  test('leadership: the first instance to ask leads in term 1, and the others get its id', async ({ store }) => {
    const one = await lead(store, 'one', 'reaper');
    assert.deepEqual([one.leads, one.term, one.instanceId, one.over], [true, 1, 'one', false]);
    const two = await lead(store, 'two', 'reaper');
    assert.deepEqual([two.leads, two.term, two.instanceId, two.over], [false, 1, 'one', false]);
  });

  test('leadership: a term lasts as long as requested, and renewing it keeps its number', async ({
    store,
    advance,
  }) => {
    const { expiresAt } = await lead(store, 'one', 'reaper');
    assert.ok(expiresAt - (await store.now(forever)) <= TERM_MS);
    for (let round = 1; round <= 3; round += 1) {
      await advance(TERM_MS - 2_000);
      const kept = await lead(store, 'one', 'reaper', 1);
      assert.deepEqual([kept.leads, kept.term], [true, 1]);
      assert.ok(kept.expiresAt > expiresAt);
      assert.equal((await lead(store, 'two', 'reaper')).leads, false);
    }
  });

  test('leadership: any instance may take over an expired term, in a higher term', async ({ store, advance }) => {
    await lead(store, 'one', 'reaper');
    await advance(TERM_MS + 1_000);
    assert.equal((await store.duties(forever))[0]?.over, true);
    const two = await lead(store, 'two', 'reaper');
    assert.deepEqual([two.leads, two.term, two.instanceId], [true, 2, 'two']);
    const one = await lead(store, 'one', 'reaper', 1);
    assert.deepEqual([one.leads, one.term, one.instanceId], [false, 2, 'two']);
  });

  test('leadership: an instance that renews after the end of its own term leads in a new term', async ({
    store,
    advance,
  }) => {
    await lead(store, 'one', 'reaper');
    await advance(TERM_MS + 1_000);
    const again = await lead(store, 'one', 'reaper', 1);
    assert.deepEqual([again.leads, again.term], [true, 2]);
  });

  test('leadership: an instance cannot renew the term of another, nor its own with a wrong number', async ({
    store,
  }) => {
    await lead(store, 'one', 'reaper');
    assert.equal((await lead(store, 'two', 'reaper', 1)).leads, false);
    assert.equal((await lead(store, 'two', 'reaper', 2)).leads, false);
    assert.equal((await store.duties(forever))[0]?.instanceId, 'one');
  });

  test('leadership: another instance can lead as soon as the leader resigns', async ({ store }) => {
    await lead(store, 'one', 'reaper');
    await lead(store, 'two', 'pruner');
    await store.resign('one', forever);
    const state = await store.duties(forever);
    assert.deepEqual(
      state.map(({ duty, over }) => [duty, over]),
      [
        ['pruner', false],
        ['reaper', true],
      ],
    );
    const two = await lead(store, 'two', 'reaper');
    assert.deepEqual([two.leads, two.term], [true, 2]);
    await store.resign('nobody', forever);
  });

  test('leadership: one call asks for several duties, each with its own term, and is answered in order', async ({
    store,
    advance,
  }) => {
    await lead(store, 'one', 'pruner');
    await advance(TERM_MS + 1_000);
    await lead(store, 'two', 'grapher');
    const wanted: Duty[] = ['reaper', 'grapher', 'pruner'];
    const duties = wanted.map((duty) => ({ duty, term: null }));
    const led = await store.lead({ instanceId: 'three', duties, termMs: TERM_MS }, forever);
    assert.deepEqual(
      led.map(({ duty, leads, term, instanceId }) => [duty, leads, term, instanceId]),
      [
        ['reaper', true, 1, 'three'],
        ['grapher', false, 1, 'two'],
        ['pruner', true, 2, 'three'],
      ],
    );
    const known = await store.duties(forever);
    assert.deepEqual(
      known.map(({ duty, term, instanceId }) => [duty, term, instanceId]),
      [
        ['grapher', 1, 'two'],
        ['pruner', 2, 'three'],
        ['reaper', 1, 'three'],
      ],
    );
  });

  test('leadership: of many concurrent instances exactly one leads', async ({ store, advance }) => {
    const names = Array.from({ length: 8 }, (_, index) => `instance-${index}`);
    for (let term = 1; term <= 3; term += 1) {
      const led = await Promise.all(names.map((name) => lead(store, name, 'ticker')));
      assert.equal(led.filter(({ leads }) => leads).length, 1);
      assert.equal((await store.duties(forever))[0]?.term, term);
      await advance(TERM_MS + 1_000);
    }
  });

  test('fence: writes of the leader succeed during its term', async ({ store, advance }) => {
    const { term } = await lead(store, 'one', 'promoter');
    const leader = store.fenced(() => ({ duty: 'promoter', term }));
    const { id } = await submitOne(store, aJob({ delayMs: 1_000 }));
    await advance(1_500);
    assert.equal((await leader.promote(10, forever)).count, 1);
    assert.equal((await readOne(store, id)).status, 'pending');
  });

  test('fence: a write with an old term is refused and changes nothing', async ({ store, advance }) => {
    const { term } = await lead(store, 'one', 'promoter');
    const fence: TermFence = { duty: 'promoter', term };
    const old = store.fenced(() => fence);
    const { id } = await submitOne(store, aJob({ delayMs: 1_000 }));
    const lease = await claimOne(store, aJob());
    const operation = await store.createOperation({ action: 'cancel', filter: {}, total: 1, askedBy: null }, forever);
    await advance(TERM_MS + 1_000);
    await lead(store, 'two', 'promoter');

    await assert.rejects(old.promote(10, forever), isLost);
    assert.equal((await readOne(store, id)).status, 'scheduled');
    const { job } = lease;
    const seen = { jobId: job.id, status: 'running', attempt: job.attempt, workerId: lease.workerId } as const;
    const counters = { failures: 0, interruptions: 0, snoozes: 0, losses: 0 };
    const stop = { kind: 'flag', fence: { ...seen, cancelRequested: false, gangStop: false, counters } } as const;
    await assert.rejects(old.applyChanges([stop], forever), isLost);
    assert.equal((await readOne(store, job.id)).cancelRequestedAt, null);
    const step = { cursor: 1, changed: 1, skipped: 0, status: 'done' } as const;
    await assert.rejects(old.advanceOperation(operation.id, null, step, forever), isLost);
    assert.equal((await store.operation(operation.id, forever))?.status, 'running');
    await assert.rejects(retireWorkers(old, 0), isLost);
    await assert.rejects(old.closeRate('k', 60_000, forever), isLost);
    assert.deepEqual(await store.rates(forever), []);
    await assert.rejects(old.forgetInstances(0, forever), isLost);
    const keepNothing = { doneMs: 0, otherMs: 0, statsMs: 0 };
    await assert.rejects(old.prune(keepNothing, 10, forever), isLost);
    await assert.rejects(old.sweep('stat', keepNothing, 10, forever), isLost);

    // The same write succeeds with the new term.
    const { term: now } = (await store.duties(forever))[0] ?? assert.fail();
    const present = store.fenced(() => ({ duty: 'promoter', term: now }));
    const [flagged] = await present.applyChanges([stop], forever);
    assert.ok(flagged?.cancelRequestedAt);
  });

  test('fence: a write with a term of a duty that was never led is refused', async ({ store, advance }) => {
    await submitOne(store, aJob({ delayMs: 1_000 }));
    await advance(1_500);
    await assert.rejects(store.fenced(() => ({ duty: 'expirer', term: 0 })).promote(10, forever), isLost);
    await assert.rejects(store.fenced(() => ({ duty: 'expirer', term: 1 })).promote(10, forever), isLost);
  });

  test('fence: an error of the fence itself is thrown, and nothing is written', async ({ store, advance }) => {
    const { id } = await submitOne(store, aJob({ delayMs: 1_000 }));
    await advance(1_500);
    const none = store.fenced(() => {
      throw new Error('not the leader');
    });
    await assert.rejects(none.promote(10, forever), /not the leader/);
    assert.equal((await readOne(store, id)).status, 'scheduled');
  });

  test('fence: an instance that does not lead can still read', async ({ store }) => {
    const { id } = await submitOne(store, aJob());
    const none = store.fenced(() => {
      throw new Error('not the leader');
    });
    assert.ok((await none.now(forever)) > 0);
    assert.equal((await readOne(none, id)).id, id);
    assert.deepEqual(await findLost(none), []);
    assert.deepEqual(await none.findExpired(10, forever), []);
    assert.deepEqual(await none.openOperations(forever), []);
    assert.deepEqual(await none.duties(forever), []);
  });
}
