/** The background loops of a scheduler. A duty on two instances at once would be correct; leadership only saves work. */

import type { NewInstance } from '../../core/instance.ts';
import { Disposables } from '../../ops/disposables.ts';
import { type Loop, type LoopContext, runLoop } from '../../ops/loop.ts';
import type { Rounds } from '../../ops/rounds.ts';
import { Wake } from '../../ops/wake.ts';
import type { Retention } from '../../store/duty-store.ts';
import type { SchedulerContext } from '../context.ts';
import type { SchedulerParts } from '../create-scheduler.ts';
import { bulkRunner } from '../jobs/bulk.ts';
import { grapher } from './grapher.ts';
import { Leader } from './leader.ts';
import { notifier } from './notifier.ts';
import { placer } from './placer.ts';
import { expirer, promoter } from './promoter.ts';
import { pruner } from './pruner.ts';
import { lockWatcher, reaper } from './reaper.ts';
import { ticker } from './ticker.ts';

const RESIGN_TIMEOUT_MS = 5_000;
const SHARED_BEAT_MS = 5_000;
/** A store with one owner has no other instances, and each beat is a write to disk. */
const EXCLUSIVE_BEAT_MS = 600_000;

export interface DutySettings {
  leaseMs: number;
  reapEveryMs: number;
  forgetWorkersAfterMs: number;
  retention: Retention;
  /** How long the ledger of schedules is kept. */
  ledgerMs: number;
  auditMs: number;
}

/** Runs all duties until `signal` aborts; resolves once every round in progress has ended. */
export async function runDuties(
  { context, rounds, bulkWake }: SchedulerParts,
  settings: DutySettings,
  signal: AbortSignal,
): Promise<void> {
  using stack = new Disposables();
  const leader = stack.use(new Leader(context));
  const loops: Loop[] = [
    leader.lead('reaper', (led) =>
      reaper(led, {
        everyMs: settings.reapEveryMs,
        leaseMs: settings.leaseMs,
        forgetAfterMs: settings.forgetWorkersAfterMs,
      }),
    ),
    leader.lead('promoter', (led) => stack.use(promoter(led, new Wake()))),
    leader.lead('grapher', (led) => stack.use(grapher(led, new Wake()))),
    leader.lead('placer', placer),
    leader.lead('ticker', (led) => stack.use(ticker(led, new Wake()))),
    leader.lead('expirer', expirer),
    leader.lead('pruner', (led) => pruner(led, settings)),
    leader.lead('bulk', (led) => bulkRunner(led, bulkWake)),
    leader.lead('notifier', notifier),
  ];
  if (!context.store.exclusive) loops.push(leader.lead('lock-watcher', lockWatcher));
  const { log } = context;
  const loopContext = loopContextOf(context, rounds, signal);
  await Promise.all([leader.loop, ...loops].map((loop) => runLoop(loop, loopContext)));
  await leader.resign(AbortSignal.timeout(RESIGN_TIMEOUT_MS)).catch((error: unknown) => {
    log.warn({ error }, 'could not resign; other instances take the duties over when the terms end');
  });
}

/** Writes this instance's statistics once a second. */
export async function runStatistics({ context, rounds }: SchedulerParts, signal: AbortSignal): Promise<void> {
  const { telemetry, store } = context;
  const loop: Loop = {
    name: 'statistics',
    everyMs: 1_000,
    async tick(round) {
      await telemetry.flush(store, round);
      return undefined;
    },
  };
  await runLoop(loop, loopContextOf(context, rounds, signal));
}

/** Lists this process among the instances until `signal` aborts. */
export async function runPresence(
  { context, rounds }: SchedulerParts,
  instance: Omit<NewInstance, 'beatMs'>,
  signal: AbortSignal,
): Promise<void> {
  const { log, store } = context;
  const beatMs = store.exclusive ? EXCLUSIVE_BEAT_MS : SHARED_BEAT_MS;
  const loop: Loop = {
    name: 'presence',
    everyMs: beatMs,
    async tick(round) {
      await store.beatInstance({ ...instance, beatMs }, round);
      return undefined;
    },
  };
  await runLoop(loop, loopContextOf(context, rounds, signal));
  await store.leaveInstance(instance.id, AbortSignal.timeout(RESIGN_TIMEOUT_MS)).catch((error: unknown) => {
    log.warn({ error, instance_id: instance.id }, 'could not deregister this instance; it stays listed as offline');
  });
}

function loopContextOf(
  { clock, random, log, telemetry }: SchedulerContext,
  rounds: Rounds,
  signal: AbortSignal,
): LoopContext {
  return { signal, clock, random, log, rounds, onError: (loop) => telemetry.metrics.loopErrors.add({ loop }) };
}
