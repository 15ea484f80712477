/** Every promise of `Store`, tested in the same way for every store. */

import { describe } from 'node:test';
import { exerciseAbort } from './abort.ts';
import { exerciseAudit } from './audit.ts';
import { exerciseCascade } from './cascade.ts';
import { exerciseCatchUp } from './catch-up.ts';
import { exerciseChangeSchedule } from './change-schedule.ts';
import { exerciseChanges } from './changes.ts';
import { exerciseCheckpoints } from './checkpoints.ts';
import { exerciseClaim } from './claim.ts';
import { exerciseDefinitions } from './definitions.ts';
import { exerciseDelete } from './delete.ts';
import { exerciseDependencies } from './dependencies.ts';
import { exerciseDue } from './due.ts';
import { exerciseDurable } from './durable.ts';
import { exerciseEdit } from './edit.ts';
import { type Effort, EVERYDAY } from './effort.ts';
import { exerciseFailingTicks } from './failing-ticks.ts';
import { exerciseGangTerms } from './gang-terms.ts';
import { exerciseGangs } from './gangs.ts';
import { exerciseGroups } from './groups.ts';
import { exerciseHeartbeat } from './heartbeat.ts';
import { exerciseHints } from './hints.ts';
import { exerciseIdempotency } from './idempotency.ts';
import { exerciseInsert } from './insert.ts';
import { exerciseInsertAndClaim } from './insert-and-claim.ts';
import { exerciseInstances } from './instances.ts';
import type { OpenStore } from './kit/store.ts';
import { exerciseLanes } from './lanes.ts';
import { exerciseLeadership } from './leadership.ts';
import { exerciseLimits } from './limits.ts';
import { exerciseList } from './list.ts';
import { exerciseLogs } from './logs.ts';
import { exerciseLost } from './lost.ts';
import { exerciseManualRetry } from './manual-retry.ts';
import { exerciseNotices } from './notices.ts';
import { exerciseOperations } from './operations.ts';
import { exerciseOrder } from './order.ts';
import { exerciseOutlook } from './outlook.ts';
import { exerciseOverlap } from './overlap.ts';
import { exercisePrefetch } from './prefetch.ts';
import { exerciseProgress } from './progress.ts';
import { exercisePrune } from './prune.ts';
import { exerciseQueues } from './queues.ts';
import { exerciseRaces } from './races.ts';
import { exerciseRates } from './rates.ts';
import { exerciseReopen } from './reopen.ts';
import { exerciseReservations } from './reservations.ts';
import { exerciseRunContext } from './run-context.ts';
import { exerciseRunSchedule } from './run-schedule.ts';
import { exerciseRunStates } from './run-states.ts';
import { exerciseSchedules } from './schedules.ts';
import { exerciseSecrets } from './secrets.ts';
import { exerciseSessions } from './sessions.ts';
import { exerciseSettle } from './settle.ts';
import { exerciseSideEffects } from './side-effects.ts';
import { exerciseStats } from './stats.ts';
import { exerciseStepsTogether } from './steps-together.ts';
import { exerciseTickNotices } from './tick-notices.ts';
import { exerciseTicks } from './ticks.ts';
import { exerciseTokens } from './tokens.ts';
import { exerciseTurns } from './turns.ts';
import { exerciseUnique } from './unique.ts';
import { exerciseWorkers } from './workers.ts';
import { exerciseWorkflows } from './workflows.ts';

const THEMES = [
  exerciseInsert,
  exerciseClaim,
  exerciseInsertAndClaim,
  exerciseOrder,
  exerciseTurns,
  exercisePrefetch,
  exerciseLanes,
  exerciseReservations,
  exerciseOutlook,
  exerciseGangs,
  exerciseGangTerms,
  exerciseQueues,
  exerciseLimits,
  exerciseRates,
  exerciseHeartbeat,
  exerciseSettle,
  exerciseChanges,
  exerciseManualRetry,
  exerciseEdit,
  exerciseDue,
  exerciseLost,
  exerciseWorkers,
  exerciseSecrets,
  exerciseTokens,
  exerciseSessions,
  exerciseAudit,
  exerciseLogs,
  exerciseList,
  exerciseUnique,
  exerciseIdempotency,
  exerciseDependencies,
  exerciseCascade,
  exerciseReopen,
  exerciseWorkflows,
  exerciseStepsTogether,
  exerciseGroups,
  exerciseRunContext,
  exerciseNotices,
  exerciseProgress,
  exerciseCheckpoints,
  exerciseDurable,
  exerciseDefinitions,
  exerciseSchedules,
  exerciseChangeSchedule,
  exerciseTicks,
  exerciseRunStates,
  exerciseOverlap,
  exerciseTickNotices,
  exerciseFailingTicks,
  exerciseCatchUp,
  exerciseRunSchedule,
  exerciseDelete,
  exercisePrune,
  exerciseStats,
  exerciseOperations,
  exerciseLeadership,
  exerciseInstances,
  exerciseHints,
  exerciseSideEffects,
  exerciseAbort,
  exerciseRaces,
];

/** Declares the whole suite for one store, for `node --test`. `open` returns an empty store with a clock for each test. */
export function exerciseStore(name: string, open: OpenStore, effort: Effort = EVERYDAY): void {
  // The test runner awaits the promise that `describe` returns.
  void describe(name, { concurrency: 4 }, () => {
    for (const exercise of THEMES) exercise(open, effort);
  });
}
