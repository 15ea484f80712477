/** The methods of this store as functions of their context. */

import type { LeadRequest } from '../../cluster-store.ts';
import type { Hint, SideEffects } from '../../hint.ts';
import { addAudit, audit, auditOf, endAudit, pruneAudit } from '../cluster/audit.ts';
import { beatInstance, forgetInstances, instances, leaveInstance } from '../cluster/instances.ts';
import { deliver, notices, notifications, postponeNotice } from '../cluster/notices.ts';
import { advanceOperation, createOperation, openOperations, operation } from '../cluster/operations.ts';
import { prune } from '../cluster/prune.ts';
import { deleteQueue, queues, setQueue } from '../cluster/queues.ts';
import { deleteSecret, putSecret, resealSecret, secrets } from '../cluster/secrets.ts';
import { createSession, pruneSessions, takeSession, useSession } from '../cluster/sessions.ts';
import { addStats, stats } from '../cluster/stats.ts';
import {
  createToken,
  pruneTokens,
  revokeToken,
  rotateToken,
  tokens,
  touchTokens,
  validTokens,
} from '../cluster/tokens.ts';
import {
  drainWorker,
  leaveWorker,
  limitWorkers,
  registerWorker,
  retireWorkers,
  undrainWorker,
  worker,
  workers,
} from '../cluster/workers.ts';
import { adopt } from '../graph/adopt.ts';
import { cascade } from '../graph/cascade.ts';
import {
  definition,
  definitions,
  definitionVersions,
  deleteDefinition,
  putDefinition,
  schedulesUsing,
} from '../graph/definitions.ts';
import { expand } from '../graph/expand.ts';
import { insertWorkflow } from '../graph/insert-workflow.ts';
import { skippedSteps, steps, workflow, workflows } from '../graph/workflows.ts';
import { countAhead } from '../jobs/ahead.ts';
import { applyChanges } from '../jobs/apply-changes.ts';
import { checkpoint, readCheckpoint, writeCheckpoint } from '../jobs/checkpoint.ts';
import { claim } from '../jobs/claim.ts';
import { deleteJobs, deleteWorkflow } from '../jobs/delete.ts';
import { findExpired, findLost, findUnlocked, leases, promote } from '../jobs/duties.ts';
import { edit } from '../jobs/edit.ts';
import { dropPlaces, gangs, incompleteGangs, placeGangs, places, stopGang } from '../jobs/gangs.ts';
import { heartbeat } from '../jobs/heartbeat.ts';
import { insert } from '../jobs/insert.ts';
import { insertAndClaim } from '../jobs/insert-and-claim.ts';
import { closeRate, countAheadAt, findSkippable, holders, limits, meterUse, rates, setLimit } from '../jobs/meters.ts';
import { outlook } from '../jobs/outlook.ts';
import { appendLogs, readLog, report } from '../jobs/output.ts';
import { settle, start } from '../jobs/settle.ts';
import { count, list } from '../reads/list.ts';
import { attempts, graphWork, read } from '../reads/reading.ts';
import { changeSchedule } from '../schedules/change.ts';
import { recentTicks, runStates } from '../schedules/recent-ticks.ts';
import { pruneTicks, runSchedule, ticks, ticksWithoutRun } from '../schedules/run-schedule.ts';
import { createSchedule, deleteSchedule, schedule, schedules } from '../schedules/schedules.ts';
import { stoppedOthers, tick } from '../schedules/tick.ts';
import { checkWritable } from './check-writable.ts';
import type { Context } from './context.ts';

export const methods = {
  now: async ({ database, sql }: Context, signal: AbortSignal): Promise<number> => {
    const [row] = await database.query<{ now: number }>(sql.now, [], signal);
    return row?.now as number;
  },
  checkWritable,
  deadlocks: ({ database }: Context) => database.deadlocks,
  subscribe: ({ hints }: Context, listener: (hint: Hint) => void) => hints.subscribe(listener),
  observe: ({ hints }: Context, observer: (effects: SideEffects) => void) => hints.observe(observer),

  insert,
  insertAndClaim,
  claim,
  start,
  heartbeat,
  settle,
  applyChanges,
  edit,
  deleteJobs,
  deleteWorkflow,

  promote,
  findExpired,
  leases,
  findLost,
  findUnlocked,
  graphWork,
  cascade,
  expand,
  adopt,
  retireWorkers,
  prune,

  read,
  list,
  count,
  attempts,
  countAhead,
  outlook,
  placeGangs,
  incompleteGangs,
  places,
  gangs,
  stopGang,
  dropPlaces,
  appendLogs,
  readLog,
  report,
  writeCheckpoint,
  checkpoint,
  readCheckpoint,

  insertWorkflow,
  workflow,
  workflows,
  skippedSteps,
  steps,

  putDefinition,
  definition,
  definitions,
  definitionVersions,
  deleteDefinition,
  schedulesUsing,
  createSchedule,
  changeSchedule,
  deleteSchedule,
  schedule,
  schedules,
  runSchedule,
  ticksWithoutRun,
  tick,
  stoppedOthers,
  ticks,
  recentTicks,
  runStates,
  pruneTicks,

  notices,
  deliver,
  postponeNotice,
  notifications,

  limits,
  setLimit,
  rates,
  closeRate,
  meterUse,
  countAheadAt,
  holders,
  findSkippable,
  queues,
  setQueue,
  deleteQueue,
  registerWorker,
  limitWorkers,
  workers,
  worker,
  drainWorker,
  undrainWorker,
  leaveWorker,
  putSecret,
  resealSecret,
  deleteSecret,
  secrets,
  createToken,
  rotateToken,
  revokeToken,
  tokens,
  validTokens,
  touchTokens,
  addAudit,
  endAudit,
  auditOf,
  audit,
  pruneAudit,
  pruneTokens,
  createSession,
  useSession,
  takeSession,
  pruneSessions,
  addStats,
  stats,
  createOperation,
  operation,
  openOperations,
  advanceOperation,
  lead: ({ leadership }: Context, request: LeadRequest, signal: AbortSignal) => leadership.lead(request, signal),
  resign: ({ leadership }: Context, instanceId: string, signal: AbortSignal) => leadership.resign(instanceId, signal),
  duties: ({ leadership }: Context, signal: AbortSignal) => leadership.duties(signal),
  beatInstance,
  instances,
  leaveInstance,
  forgetInstances,
};
