/** The background duties of a scheduler. Each would be correct on two instances at once. */

import { type Loop, type LoopContext, runLoop } from '../ops/loop.ts';
import { Wake } from '../ops/wake.ts';
import type { Retention } from '../store/store.ts';
import { bulkRunner } from './bulk.ts';
import type { SchedulerParts } from './create-scheduler.ts';
import { grapher } from './grapher.ts';
import { notifier } from './notifier.ts';
import { expirer, promoter } from './promoter.ts';
import { pruner } from './pruner.ts';
import { lockWatcher, reaper } from './reaper.ts';
import { ticker } from './ticker.ts';

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
  await using promote = promoter(context, new Wake());
  using graph = grapher(context, new Wake());
  using tick = ticker(context, new Wake());
  const loops: Loop[] = [
    reaper(context, {
      everyMs: settings.reapEveryMs,
      leaseMs: settings.leaseMs,
      forgetAfterMs: settings.forgetWorkersAfterMs,
    }),
    promote,
    graph,
    tick,
    expirer(context),
    pruner(context, settings.retention, settings.ledgerMs),
    bulkRunner(context, bulkWake),
    notifier(context),
  ];
  if (!context.store.exclusive) loops.push(lockWatcher(context));
  const { metrics } = context.telemetry;
  for (const { name } of loops) metrics.leader.set({ duty: name }, 1);
  const { clock, random, log } = context;
  const loopContext: LoopContext = { signal, clock, random, log, rounds };
  await Promise.all(loops.map((loop) => runLoop(loop, loopContext)));
  for (const { name } of loops) metrics.leader.set({ duty: name }, 0);
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
