/** The methods of this store as functions of its tables. A leader's writes are made only in its term. */

import { addAudit, audit, auditOf, endAudit, pruneAudit } from '../cluster/audit.ts';
import { beatInstance, forgetInstances, instances, leaveInstance } from '../cluster/instances.ts';
import { duties, lead, resign } from '../cluster/leadership.ts';
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
import { insertWorkflow, skippedSteps, steps, workflow, workflows } from '../graph/workflows.ts';
import { countAhead } from '../jobs/ahead.ts';
import { applyChanges } from '../jobs/apply-changes.ts';
import { checkpoint, readCheckpoint, writeCheckpoint } from '../jobs/checkpoint.ts';
import { claim } from '../jobs/claim.ts';
import { deleteJobs, deleteWorkflow } from '../jobs/delete.ts';
import { findExpired, findLost, leases, promote } from '../jobs/duties.ts';
import { edit } from '../jobs/edit.ts';
import { dropPlaces, gangs, incompleteGangs, placeGangs, places, stopGang } from '../jobs/gangs.ts';
import { heartbeat } from '../jobs/heartbeat.ts';
import { insert } from '../jobs/insert.ts';
import { insertAndClaim } from '../jobs/insert-and-claim.ts';
import { closeRate, countAheadAt, findSkippable, holders, limits, meterUse, rates, setLimit } from '../jobs/meters.ts';
import { outlook } from '../jobs/outlook.ts';
import { appendLogs, readLog, report } from '../jobs/output.ts';
import { settle, start } from '../jobs/settle.ts';
import { attempts, count, list, read } from '../reads/reading.ts';
import { recentTicks, runStates } from '../schedules/recent-ticks.ts';
import { pruneTicks, runSchedule, ticks, ticksWithoutRun } from '../schedules/run-schedule.ts';
import { changeSchedule, createSchedule, deleteSchedule, schedule, schedules } from '../schedules/schedules.ts';
import { stoppedOthers, tick } from '../schedules/tick.ts';
import type { Tables } from './tables.ts';

export const writes = {
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
  cascade,
  expand,
  adopt: (_tables: Tables, _limit: number) => 0,
  retireWorkers,
  prune,
  placeGangs,
  stopGang,
  dropPlaces,

  insertWorkflow,
  putDefinition,
  deleteDefinition,
  createSchedule,
  changeSchedule,
  deleteSchedule,
  runSchedule,
  tick,
  stoppedOthers,
  pruneTicks,

  appendLogs,
  report,
  writeCheckpoint,
  deliver,
  postponeNotice,

  setLimit,
  closeRate,
  setQueue,
  deleteQueue,
  registerWorker,
  limitWorkers,
  drainWorker,
  undrainWorker,
  leaveWorker,
  addStats,
  putSecret,
  resealSecret,
  deleteSecret,
  secrets,
  createToken,
  rotateToken,
  revokeToken,
  touchTokens,
  addAudit,
  endAudit,
  pruneAudit,
  pruneTokens,
  createSession,
  useSession,
  takeSession,
  pruneSessions,
  createOperation,
  advanceOperation,
  lead,
  resign,
  beatInstance,
  leaveInstance,
  forgetInstances,
};

export const reads = {
  now: ({ clock }: Tables) => clock.now(),
  checkWritable: () => undefined,
  findExpired,
  leases,
  findLost,
  findUnlocked: (_tables: Tables) => ({ workers: [], serverStartedAt: 0 }),
  graphWork: ({ cascade, needItems }: Tables) => ({
    adopt: false,
    cascade: cascade.size > 0,
    expand: needItems.size > 0,
  }),

  read,
  list,
  count,
  attempts,
  countAhead,
  outlook,
  incompleteGangs,
  places,
  gangs,
  workflow,
  workflows,
  skippedSteps,
  steps,
  definition,
  definitions,
  definitionVersions,
  schedulesUsing,
  schedule,
  schedules,
  ticks,
  recentTicks,
  runStates,
  ticksWithoutRun,
  readLog,
  checkpoint,
  readCheckpoint,
  notices,
  notifications,

  limits,
  rates,
  meterUse,
  countAheadAt,
  holders,
  findSkippable,
  queues,
  workers,
  worker,
  tokens,
  audit,
  auditOf,
  validTokens,
  stats,
  operation,
  openOperations,
  duties,
  instances,
};
