import assert from 'node:assert/strict';
import { isWorkronError } from '../src/core/error.ts';
import { transition } from '../src/core/transition.ts';
import type { LostJob } from '../src/store/duty-store.ts';
import type { Store } from '../src/store/store.ts';
import type { Effort } from './effort.ts';
import { jobs, LEASE_MS } from './kit/builders.ts';
import {
  cancel,
  claim,
  claimOne,
  findLost,
  forever,
  type Lease,
  readOne,
  register,
  submit,
  success,
} from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/** Races that run at the same time. */
const AT_ONCE = 20;

/** Lets a user, the worker and the reaper change one running job at once, each as the scheduler does it. */
async function race(store: Store, lease: Lease, lost: LostJob, turn: number) {
  const runners = [
    async () => {
      await cancel(store, lease.job.id).catch((error: unknown) => {
        if (!isWorkronError(error, 'illegal_transition')) throw error;
      });
      return null;
    },
    async () => {
      const [answer] = await store.settle([success(lease, turn)], forever);
      return answer?.result === 'ok' ? 'settled' : null;
    },
    async () => {
      // The reaper's first read may be older than the cancel request: then it reads again.
      for (let { job, workerSeenAt } = lost; job.status === 'running'; job = await readOne(store, job.id)) {
        const change = transition(job, { type: 'lose', workerSeenAt }, 0.5) ?? assert.fail();
        if ((await store.applyChanges([change], forever))[0] !== undefined) return 'reaped';
      }
      return null;
    },
  ];
  // Each race starts with another of the three.
  const inTurn = [...runners.slice(turn % 3), ...runners.slice(0, turn % 3)];
  return (await Promise.all(inTurn.map((run) => run()))).filter((who) => who !== null);
}

export function exerciseRaces(open: OpenStore, effort: Effort): void {
  const test = withStore(open);

  test('races: of cancel, settle and reap at once exactly one ends the attempt, and an ended job stays ended', async ({
    store,
    advance,
  }) => {
    for (let begun = 0; begun < effort.races; begun += AT_ONCE) {
      await submit(store, jobs(AT_ONCE, { maxAttempts: 1 + (begun % 3) }));
      const { id: workerId } = await register(store);
      const leases = (await claim(store, workerId)).map((job) => ({ job, workerId }));
      assert.equal(leases.length, AT_ONCE);
      await advance(LEASE_MS + 1_000);
      const lost = await findLost(store);
      assert.equal(lost.length, AT_ONCE);

      await Promise.all(
        leases.map(async (lease, index) => {
          const seen = lost.find(({ job }) => job.id === lease.job.id) ?? assert.fail();
          const accepted = await race(store, lease, seen, begun + index);
          assert.equal(accepted.length, 1, `accepted: ${accepted.join()}`);

          const job = await readOne(store, lease.job.id);
          const [record, ...others] = await store.attempts(job.id, forever);
          assert.deepEqual(others, []);
          if (accepted[0] === 'settled') {
            assert.deepEqual([job.status, job.result, record?.outcome], ['done', begun + index, 'done']);
          } else {
            // Without budget the reaper ends the job before the user can.
            assert.ok(['cancelled', 'failed'].includes(job.status), job.status);
            assert.ok(record !== undefined && ['cancelled', 'lost'].includes(record.outcome));
          }

          const again = transition(seen.job, { type: 'lose', workerSeenAt: seen.workerSeenAt }, 0.5) ?? assert.fail();
          const flag = transition(seen.job, { type: 'cancel' }, 0) ?? assert.fail();
          assert.deepEqual(await store.applyChanges([again, flag], forever), [undefined, undefined]);
          assert.deepEqual(await readOne(store, job.id), job);
        }),
      );
    }
  });

  test('races: two claims and the give-back of the first leave one lease', async ({ store }) => {
    const other = await register(store);
    for (let round = 0; round < 10; round += 1) {
      const first = await claimOne(store, jobs(1)[0]);
      const [claimed] = await Promise.all([
        claim(store, other.id, { claimSeq: round + 1 }),
        store.heartbeat({ workerId: first.workerId, leases: [], seenClaim: 1 }, forever),
      ]);
      const [second] = claimed.length > 0 ? claimed : await claim(store, other.id, { claimSeq: round + 1 });
      assert.deepEqual([second?.id, second?.attempt], [first.job.id, 2]);
      const answers = await Promise.all([
        store.settle([success(first)], forever),
        store.settle([success({ job: second ?? assert.fail(), workerId: other.id })], forever),
      ]);
      assert.deepEqual(
        answers.flat().map(({ result }) => result),
        ['lease_lost', 'ok'],
      );
    }
  });
}
