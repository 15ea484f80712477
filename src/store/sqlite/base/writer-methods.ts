/** The methods of the writer's thread. */

import { addAudit, endAudit, pruneAudit } from '../cluster/audit.ts';
import { beatInstance, forgetInstances, leaveInstance } from '../cluster/instances.ts';
import { lead, resign } from '../cluster/leadership.ts';
import { deliver, notices, postponeNotice } from '../cluster/notices.ts';
import { advanceOperation, createOperation, openOperations, operation } from '../cluster/operations.ts';
import { prune } from '../cluster/prune.ts';
import { deleteQueue, setQueue } from '../cluster/queues.ts';
import { deleteSecret, putSecret, resealSecret, secrets } from '../cluster/secrets.ts';
import { createSession, pruneSessions, takeSession, useSession } from '../cluster/sessions.ts';
import { addStats } from '../cluster/stats.ts';
import { createToken, pruneTokens, revokeToken, rotateToken, touchTokens, validTokens } from '../cluster/tokens.ts';
import {
  drainWorker,
  leaveWorker,
  limitWorkers,
  registerWorker,
  retireWorkers,
  undrainWorker,
  worker,
} from '../cluster/workers.ts';
import { adopt } from '../graph/adopt.ts';
import { cascade } from '../graph/cascade.ts';
import { definition, deleteDefinition, putDefinition, schedulesUsing } from '../graph/definitions.ts';
import { expand } from '../graph/expand.ts';
import { insertWorkflow } from '../graph/insert-workflow.ts';
import { workflow } from '../graph/workflows.ts';
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
import { closeRate, findSkippable, meterUse, setLimit } from '../jobs/meters.ts';
import { appendLogs, deleteProbe, insertProbe, report } from '../jobs/output.ts';
import { settle, start } from '../jobs/settle.ts';
import { read } from '../reads/reading.ts';
import { pruneTicks, runSchedule, ticksWithoutRun } from '../schedules/run-schedule.ts';
import { changeSchedule, createSchedule, deleteSchedule, schedule } from '../schedules/schedules.ts';
import { stoppedOthers, tick } from '../schedules/tick.ts';
import type { Context } from './context.ts';
import type { Methods } from './protocol.ts';

/** Everything that changes the file. A leader's writes are made only in its term. */
const writes = {
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
  adopt,
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
  insertProbe,
  deleteProbe,
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
  addStats,
  createOperation,
  advanceOperation,
  lead,
  resign,
  beatInstance,
  leaveInstance,
  forgetInstances,
} satisfies Methods;

/** Reads that must not wait behind a long list. */
export const urgentReads = {
  now: ({ now }: Context) => now,
  findExpired,
  leases,
  findLost,
  findSkippable,
  meterUse,
  read,
  workflow,
  definition,
  schedulesUsing,
  schedule,
  ticksWithoutRun,
  checkpoint,
  readCheckpoint,
  notices,
  worker,
  validTokens,
  operation,
  openOperations,
  incompleteGangs,
  places,
  gangs,
} satisfies Methods;

export const writerMethods = { ...writes, ...urgentReads };
export type WriterMethods = typeof writerMethods;
