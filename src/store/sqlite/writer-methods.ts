/** What the writer's thread does: everything that writes, and reads that must not wait behind a long list. */

import { adopt } from './adopt.ts';
import { applyChanges } from './apply-changes.ts';
import { cascade } from './carry.ts';
import { claim } from './claim.ts';
import type { Context } from './context.ts';
import { findExpired, findLost, promote, retireWorkers } from './duties.ts';
import { edit } from './edit.ts';
import { expand } from './expand.ts';
import { heartbeat } from './heartbeat.ts';
import { insert } from './insert.ts';
import { insertAndClaim } from './insert-and-claim.ts';
import { insertWorkflow } from './insert-workflow.ts';
import { beatInstance, forgetInstances, leaveInstance } from './instances.ts';
import { lead, resign } from './leadership.ts';
import { appendLogs } from './logs.ts';
import { deliver, notices, putOffNotice } from './notices.ts';
import { advanceOperation, createOperation, openOperations, operation } from './operations.ts';
import { checkpointOf, report } from './progress.ts';
import type { Methods } from './protocol.ts';
import { prune } from './prune.ts';
import { setQueue } from './queues.ts';
import { read } from './reading.ts';
import { pruneTicks, runSchedule, ticksWithoutRun } from './schedules/run-schedule.ts';
import { changeSchedule, createSchedule, deleteSchedule, schedule } from './schedules/schedules.ts';
import { stoppedOthers, tick } from './schedules/tick.ts';
import { settle, start } from './settle.ts';
import { addStats } from './stats.ts';
import { drainWorker, leaveWorker, registerWorker } from './workers.ts';
import { workflow } from './workflows.ts';

export const writerMethods = {
  now: ({ now }: Context) => now,
  insert,
  insertAndClaim,
  insertWorkflow,
  claim,
  start,
  heartbeat,
  settle,
  applyChanges,
  edit,
  promote,
  cascade,
  expand,
  adopt,
  findExpired,
  findLost,
  retireWorkers,
  prune,
  read,
  workflow,
  createSchedule,
  changeSchedule,
  deleteSchedule,
  schedule,
  runSchedule,
  ticksWithoutRun,
  tick,
  stoppedOthers,
  pruneTicks,
  appendLogs,
  report,
  checkpoint: checkpointOf,
  setQueue,
  registerWorker,
  drainWorker,
  leaveWorker,
  addStats,
  createOperation,
  notices,
  putOffNotice,
  deliver,
  operation,
  openOperations,
  advanceOperation,
  lead,
  resign,
  beatInstance,
  leaveInstance,
  forgetInstances,
} satisfies Methods;

export type WriterMethods = typeof writerMethods;

/** What of it only reads. */
export const WRITER_READS: ReadonlySet<keyof WriterMethods> = new Set([
  'now',
  'findExpired',
  'findLost',
  'read',
  'workflow',
  'operation',
  'openOperations',
]);
