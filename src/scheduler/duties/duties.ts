/** The background duties of a scheduler. Each would be correct on two instances at once; leadership only saves work. */

import type { NewInstance } from '../../core/instance.ts';
import { type Loop, type LoopContext, runLoop } from '../../ops/loop.ts';
import { Wake } from '../../ops/wake.ts';
import type { Retention } from '../../store/duty-store.ts';
import type { SchedulerParts } from '../create-scheduler.ts';
import { bulkRunner } from '../jobs/bulk.ts';
import { grapher } from './grapher.ts';
import { Leader } from './leader.ts';
import { notifier } from './notifier.ts';
import { presence } from './presence.ts';
import { expirer, promoter } from './promoter.ts';
import { pruner } from './pruner.ts';
import { lockWatcher, reaper } from './reaper.ts';
import { ticker } from './ticker.ts';

const RESIGN_TIMEOUT_MS = 5_000;

export interface DutySettings {
  leaseMs: number;
  reapEveryMs: number;
  forgetWorkersAfterMs: number;
  retention: Retention;
  /** How long the ledger of schedules is kept. */
  ledgerMs: number;
}

/** Runs until `signal` aborts; resolves once every round in progress has ended. */
export async function runDuties(
  { context, rounds, bulkWake }: SchedulerParts,
  settings: DutySettings,
  signal: AbortSignal,
): Promise<void> {
  using stack = new DisposableStack();
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
    leader.lead('ticker', (led) => stack.use(ticker(led, new Wake()))),
    leader.lead('expirer', expirer),
    leader.lead('pruner', (led) => pruner(led, settings.retention, settings.ledgerMs)),
    leader.lead('bulk', (led) => bulkRunner(led, bulkWake)),
    leader.lead('notifier', notifier),
  ];
  if (!context.store.exclusive) loops.push(leader.lead('lock-watcher', lockWatcher));
  const { clock, random, log } = context;
  const loopContext: LoopContext = { signal, clock, random, log, rounds };
  await Promise.all([leader.loop, ...loops].map((loop) => runLoop(loop, loopContext)));
  await leader.resign(AbortSignal.timeout(RESIGN_TIMEOUT_MS)).catch((error: unknown) => {
    log.warn({ error }, 'the duties could not be handed over: another instance takes them when they run out');
  });
}

/** Writes statistics once a second, where there are any. Every instance has its own to write. */
export async function runStatistics({ context, rounds }: SchedulerParts, signal: AbortSignal): Promise<void> {
  const { clock, random, log, telemetry, store } = context;
  const loop: Loop = {
    name: 'statistics',
    everyMs: 1_000,
    async tick(round) {
      await telemetry.flush(store, round);
      return undefined;
    },
  };
  await runLoop(loop, { signal, clock, random, log, rounds });
}

/** Lists this process among the instances until `signal` aborts. */
export async function runPresence(
  { context, rounds }: SchedulerParts,
  instance: Omit<NewInstance, 'beatMs'>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, store } = context;
  await runLoop(presence(context, instance), { signal, clock, random, log, rounds });
  await store.leaveInstance(instance.id, AbortSignal.timeout(RESIGN_TIMEOUT_MS)).catch((error: unknown) => {
    log.warn({ error }, 'this instance stays listed as silent: it could not say good-bye');
  });
}
