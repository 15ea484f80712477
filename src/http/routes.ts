/** Every route there is. */

import type { Route } from './route.ts';
import { applySchedules } from './routes/apply-schedules.ts';
import { backfillSchedule } from './routes/backfill-schedule.ts';
import { bulkJobs } from './routes/bulk-jobs.ts';
import { cancelJob } from './routes/cancel-job.ts';
import { cancelWorkflow } from './routes/cancel-workflow.ts';
import { claimJobs } from './routes/claim-jobs.ts';
import { createSchedule } from './routes/create-schedule.ts';
import { deleteSchedule } from './routes/delete-schedule.ts';
import { doneJob } from './routes/done-job.ts';
import { drainWorker } from './routes/drain-worker.ts';
import { editJob } from './routes/edit-job.ts';
import { editQueue } from './routes/edit-queue.ts';
import { editSchedule } from './routes/edit-schedule.ts';
import { endSessionRoute } from './routes/end-session.ts';
import { failJob } from './routes/fail-job.ts';
import { heartbeatWorker } from './routes/heartbeat-worker.ts';
import { leaveWorker } from './routes/leave-worker.ts';
import { listAttempts } from './routes/list-attempts.ts';
import { listFailures } from './routes/list-failures.ts';
import { listJobs } from './routes/list-jobs.ts';
import { listNextTicks } from './routes/list-next-ticks.ts';
import { listQueues } from './routes/list-queues.ts';
import { listSchedules } from './routes/list-schedules.ts';
import { listTicks } from './routes/list-ticks.ts';
import { listWorkers } from './routes/list-workers.ts';
import { listWorkflows } from './routes/list-workflows.ts';
import { nudgeWorker } from './routes/nudge-worker.ts';
import { openSessionRoute } from './routes/open-session.ts';
import { pauseSchedule } from './routes/pause-schedule.ts';
import { previewSchedule } from './routes/preview-schedule.ts';
import { putSchedule } from './routes/put-schedule.ts';
import { readCheckpoint } from './routes/read-checkpoint.ts';
import { readCluster } from './routes/read-cluster.ts';
import { readDocument } from './routes/read-document.ts';
import { readHealth } from './routes/read-health.ts';
import { readJob } from './routes/read-job.ts';
import { readLogs } from './routes/read-logs.ts';
import { readMetrics } from './routes/read-metrics.ts';
import { readOperation } from './routes/read-operation.ts';
import { readReady } from './routes/read-ready.ts';
import { readRoot } from './routes/read-root.ts';
import { readSchedule } from './routes/read-schedule.ts';
import { readSession } from './routes/read-session.ts';
import { readStats } from './routes/read-stats.ts';
import { readWorkflow } from './routes/read-workflow.ts';
import { registerWorker } from './routes/register-worker.ts';
import { rerunWorkflow } from './routes/rerun-workflow.ts';
import { resumeSchedule } from './routes/resume-schedule.ts';
import { retryJob } from './routes/retry-job.ts';
import { retryWorkflow } from './routes/retry-workflow.ts';
import { runSchedule } from './routes/run-schedule.ts';
import { settleJobs } from './routes/settle-jobs.ts';
import { streamEvents } from './routes/stream-events.ts';
import { submitJobs } from './routes/submit-jobs.ts';
import { submitWorkflow } from './routes/submit-workflow.ts';
import { waitJob } from './routes/wait-job.ts';
import { writeLogs } from './routes/write-logs.ts';
import { writeOutput } from './routes/write-output.ts';
import { writeReport } from './routes/write-report.ts';

export const ROUTES: readonly Route[] = [
  readRoot,
  submitJobs,
  listJobs,
  bulkJobs,
  readJob,
  editJob,
  cancelJob,
  retryJob,
  listAttempts,
  readCheckpoint,
  readLogs,
  waitJob,
  submitWorkflow,
  listWorkflows,
  readWorkflow,
  cancelWorkflow,
  retryWorkflow,
  rerunWorkflow,
  createSchedule,
  listSchedules,
  applySchedules,
  readSchedule,
  putSchedule,
  editSchedule,
  deleteSchedule,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  backfillSchedule,
  listNextTicks,
  listTicks,
  readOperation,
  listQueues,
  editQueue,
  listWorkers,
  drainWorker,
  previewSchedule,
  readCluster,
  readStats,
  listFailures,
  streamEvents,
  readSession,
  openSessionRoute,
  endSessionRoute,
  readHealth,
  readReady,
  readMetrics,
  readDocument,
  registerWorker,
  heartbeatWorker,
  leaveWorker,
  nudgeWorker,
  claimJobs,
  writeLogs,
  doneJob,
  failJob,
  settleJobs,
  writeOutput,
  writeReport,
];
