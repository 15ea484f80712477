/** The routes of the worker protocol (docs/worker-protocol.md). Only types are imported here. */

import type { z } from 'zod';
import type { CheckpointUploadQuery, CheckpointWritten } from './checkpoint.ts';
import type { ClaimedJobs, ClaimRequestInput, ClaimWaitEnded, EndClaimWait } from './claim.ts';
import type { Heartbeat, HeartbeatAnswer } from './heartbeat.ts';
import type { LogPosition, LogUploadQuery, OutputAnswer } from './output.ts';
import type { Gone, Left, Registered, Registration } from './registration.ts';
import type { ReportAnswer, ReportRequest } from './report.ts';
import { route } from './route.ts';
import type { Done, Fail, SettleAnswer, SettleRequest, SettleResult } from './settle.ts';
import type { StepsAnswer, StepsRequest } from './step.ts';

type In<S extends z.ZodType> = z.input<S>;
type Out<S extends z.ZodType> = z.output<S>;

export const workerRoutes = {
  registerWorker: route('POST /workers/register', 'work').of<{ body: In<typeof Registration>; reply: Registered }>(),
  heartbeatWorker: route('POST /workers/:id/heartbeat', 'work').of<{
    body?: In<typeof Heartbeat>;
    reply: HeartbeatAnswer;
  }>(),
  leaveWorker: route('POST /workers/:id/leave', 'work').of<{
    body?: Record<string, unknown>;
    reply: Out<typeof Left>;
  }>(),
  goneWorker: route('POST /workers/:id/gone', 'work').of<{ body?: unknown; reply: Out<typeof Gone> }>(),
  nudgeWorker: route('GET /workers/:id/nudges', 'work').of<object>(),
  claimJobs: route('POST /jobs/claim', 'work').of<{ body: ClaimRequestInput; reply: Out<typeof ClaimedJobs> }>(),
  endClaimWait: route('POST /workers/:id/end_wait', 'work').of<{
    body: In<typeof EndClaimWait>;
    reply: Out<typeof ClaimWaitEnded>;
  }>(),
  writeCheckpoint: route('PUT /jobs/:id/checkpoint', 'work').of<{
    query: In<typeof CheckpointUploadQuery>;
    reply: Out<typeof CheckpointWritten>;
  }>(),
  writeLogs: route('POST /jobs/:id/logs', 'work').of<{
    query: In<typeof LogUploadQuery>;
    reply: Out<typeof LogPosition>;
  }>(),
  doneJob: route('POST /jobs/:id/done', 'work').of<{ body: In<typeof Done>; reply: SettleResult }>(),
  failJob: route('POST /jobs/:id/fail', 'work').of<{ body: In<typeof Fail>; reply: SettleResult }>(),
  settleJobs: route('POST /workers/:id/settle', 'work').of<{
    body: In<typeof SettleRequest>;
    reply: Out<typeof SettleAnswer>;
  }>(),
  writeOutput: route('POST /workers/:id/output', 'work').of<{ reply: Out<typeof OutputAnswer> }>(),
  writeReport: route('POST /workers/:id/report', 'work').of<{
    body: In<typeof ReportRequest>;
    reply: Out<typeof ReportAnswer>;
  }>(),
  writeSteps: route('POST /workers/:id/steps', 'work').of<{
    body: In<typeof StepsRequest>;
    reply: Out<typeof StepsAnswer>;
  }>(),
};
