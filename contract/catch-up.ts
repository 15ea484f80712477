import assert from 'node:assert/strict';
import type { CatchupPolicy } from '../src/core/schedule/plan-ticks.ts';
import type { OverlapPolicy, Schedule } from '../src/core/schedule/schedule.ts';
import type { Store } from '../src/store/store.ts';
import { HOUR, ledger, MINUTE, makeSchedule, PERIOD, story, tickAll } from './kit/schedules.ts';
import { claim, forever, readOne, register, succeed } from './kit/steps.ts';
import { type OpenStore, withStore } from './kit/store.ts';

/**
 * Tick 1 ran on time. Then everything was down until five minutes after tick 6. The catch-up window is half an hour: ticks 2
 * and 3 are outside of it, and at most two of the others run.
 */
const LATER: Record<CatchupPolicy, Record<'idle' | 'busy', Record<OverlapPolicy, string[]>>> = {
  none: {
    idle: {
      skip: ['missed 2-6'],
      buffer_one: ['missed 2-6'],
      allow: ['missed 2-6'],
      cancel_other: ['missed 2-6'],
    },
    busy: {
      skip: ['missed 2-6'],
      buffer_one: ['missed 2-6'],
      allow: ['missed 2-6'],
      cancel_other: ['missed 2-6'],
    },
  },
  latest: {
    idle: {
      skip: ['missed 2-3', 'dropped 4-5', 'ran 6'],
      buffer_one: ['missed 2-3', 'dropped 4-5', 'ran 6'],
      allow: ['missed 2-3', 'dropped 4-5', 'ran 6'],
      cancel_other: ['missed 2-3', 'dropped 4-5', 'ran 6'],
    },
    busy: {
      skip: ['missed 2-3', 'dropped 4-5', 'skipped_overlap 6'],
      buffer_one: ['missed 2-3', 'dropped 4-5', 'ran 6'],
      allow: ['missed 2-3', 'dropped 4-5', 'ran 6'],
      cancel_other: ['missed 2-3', 'dropped 4-5', 'ran 6'],
    },
  },
  all: {
    idle: {
      skip: ['missed 2-3', 'dropped 4', 'ran 5', 'ran 6'],
      buffer_one: ['missed 2-3', 'dropped 4', 'ran 5', 'ran 6'],
      allow: ['missed 2-3', 'dropped 4', 'ran 5', 'ran 6'],
      cancel_other: ['missed 2-3', 'dropped 4', 'ran 5', 'ran 6'],
    },
    busy: {
      skip: ['missed 2-3', 'dropped 4', 'skipped_overlap 5-6'],
      buffer_one: ['missed 2-3', 'dropped 4', 'ran 5', 'skipped_overlap 6'],
      allow: ['missed 2-3', 'dropped 4', 'ran 5', 'ran 6'],
      cancel_other: ['missed 2-3', 'dropped 4', 'ran 5', 'ran 6'],
    },
  },
};

/** For each run after the first, the number of the tick whose run it waits for; `-` if it waits for none. */
const WAITS: Record<CatchupPolicy, Record<'idle' | 'busy', Record<OverlapPolicy, string>>> = {
  none: {
    idle: { skip: '', buffer_one: '', allow: '', cancel_other: '' },
    busy: { skip: '', buffer_one: '', allow: '', cancel_other: '' },
  },
  latest: {
    idle: { skip: '-', buffer_one: '-', allow: '-', cancel_other: '-' },
    busy: { skip: '', buffer_one: '1', allow: '-', cancel_other: '1' },
  },
  all: {
    idle: { skip: '- 5', buffer_one: '- 5', allow: '- -', cancel_other: '- 5' },
    busy: { skip: '', buffer_one: '1', allow: '- -', cancel_other: '1 5' },
  },
};

const OVERLAPS = ['skip', 'buffer_one', 'allow', 'cancel_other'] as const;
const CATCHUPS = ['none', 'latest', 'all'] as const;

export function exerciseCatchUp(open: OpenStore): void {
  const test = withStore(open);

  for (const state of ['idle', 'busy'] as const) {
    test(`catch-up: ticks of a downtime get the verdicts of their policy, with the last run ${state === 'idle' ? 'ended' : 'still running'}`, async ({
      store,
      advance,
    }) => {
      const anchor = await store.now(forever);
      const made: { schedule: Schedule; catchup: CatchupPolicy; overlap: OverlapPolicy }[] = [];
      for (const catchup of CATCHUPS) {
        for (const overlap of OVERLAPS) {
          const wanted = { policy: catchup, windowMs: 30 * MINUTE, max: 2 };
          const schedule = await makeSchedule(store, {
            name: `${catchup}.${overlap}`,
            anchor,
            overlap,
            catchup: wanted,
          });
          made.push({ schedule, catchup, overlap });
        }
      }
      await advance(PERIOD + 1_000);
      await tickAll(store);
      await start(store, state === 'idle');
      await advance(5 * PERIOD + 5 * MINUTE - 1_000);
      const { stop } = await store.tick({ limit: 1_000 }, forever);
      for (const { schedule, catchup, overlap } of made) {
        const name = `${catchup} × ${overlap} × ${state}`;
        assert.deepEqual(await story(store, schedule), ['ran 1', ...LATER[catchup][state][overlap]], name);
        assert.equal(await waits(store, schedule), WAITS[catchup][state][overlap], name);
      }
      const replaced = state === 'idle' ? 0 : 2;
      assert.equal(stop.length, replaced, 'one replaced run for cancel_other with latest, one with all');
    });
  }

  test('catch-up: a schedule with a tick every second catches up on thirty days with few rows in few calls', async ({
    store,
    advance,
  }) => {
    const days = 30 * 24 * HOUR;
    const anchor = await store.now(forever);
    // The clock of a real database goes on: the schedule ends, so that no ticks become due in between.
    const made = await makeSchedule(store, {
      everyMs: 1_000,
      anchor,
      endAt: anchor + days + 1,
      overlap: 'allow',
      catchup: { policy: 'all', windowMs: HOUR, max: 1_000 },
    });
    await advance(days);
    const sizes: number[] = [];
    for (let more = true; more; ) {
      const ticked = await store.tick({ limit: 1_000 }, forever);
      sizes.push(ticked.ticks.length);
      more = ticked.more;
    }
    assert.ok(
      sizes.length <= 3 && sizes.every((size) => size <= 1_000),
      `at most 1,000 rows a transaction: ${sizes.join(', ')}`,
    );
    const rows = await ledger(store, 'nightly');
    assert.deepEqual(
      rows.slice(0, 2).map(({ verdict }) => verdict),
      ['missed', 'dropped'],
    );
    const count = rows.reduce((sum, row) => sum + row.count, 0);
    assert.deepEqual({ count, rows: rows.length }, { count: days / 1_000, rows: 1_002 });
    rows.reduce((through, row) => {
      assert.equal(row.scheduledFor, through + 1_000, 'every tick has exactly one verdict');
      return row.through;
    }, made.anchor);
  });
}

/** Claims the job that the first tick started; ends it, or leaves it running. */
async function start(store: Store, isEnded: boolean): Promise<void> {
  const worker = await register(store);
  for (const job of await claim(store, worker.id)) {
    if (isEnded) await succeed(store, { job, workerId: worker.id });
  }
}

async function waits(store: Store, { name, anchor }: Schedule): Promise<string> {
  const runs = (await ledger(store, name)).filter(({ verdict }) => verdict === 'ran');
  const numberOf = new Map(runs.map((run) => [run.jobId, (run.scheduledFor - anchor) / PERIOD]));
  const numbers: string[] = [];
  for (const { jobId } of runs.slice(1)) {
    const { status, dependsOn } = await readOne(store, jobId ?? 0);
    assert.equal(status, dependsOn.length === 0 ? 'pending' : 'blocked');
    assert.ok(dependsOn.every(({ condition }) => condition === 'ended'));
    numbers.push(dependsOn.length === 0 ? '-' : dependsOn.map((edge) => numberOf.get(edge.jobId)).join('+'));
  }
  return numbers.join(' ');
}
