/**
 * The routes that clients call, without those of workers and of sessions. Of the schemas, only types are imported: the command line and
 * the browser load this table without zod.
 */

import type { z } from 'zod';
import type { AuditFilterQuery, AuditPage, AuditQuery } from './audit.ts';
import type { Limit, LimitEdit, LimitList, RateList } from './capacity.ts';
import type { Cluster } from './cluster.ts';
import type { Findings } from './doctor.ts';
import type { EventsQuery } from './event.ts';
import type { Failures, FailuresQuery } from './failures.ts';
import type { Health, Readiness, Welcome } from './health.ts';
import type { History } from './history.ts';
import type { AttemptList, Job, JobDetail, JobPage, Submitted, SubmittedJob, WaitQuery } from './job.ts';
import type { JobCancel, JobEditInput } from './job-edit.ts';
import type { JobListQuery } from './job-filter.ts';
import type { JobSubmissionInput } from './job-submission.ts';
import type { NotifyTargets, NotifyTested, NotifyTestInput } from './notify.ts';
import type { BulkAnswer, BulkRequestInput, Operation } from './operation.ts';
import type { LogQuery } from './output.ts';
import type { Queue, QueueEditInput, QueueList } from './queue.ts';
import { route } from './route.ts';
import type {
  BackfillRequestInput,
  PauseRequest,
  Schedule,
  ScheduleDeclarationInput,
  ScheduleDetail,
  ScheduleEditInput,
  ScheduleListQuery,
  SchedulePage,
  ScheduleRunRequest,
  ScheduleSubmissionInput,
} from './schedule.ts';
import type { ScheduleApplied, ScheduleApply } from './schedule-apply.ts';
import type { SchedulePreview, SchedulePreviewRequestInput } from './schedule-preview.ts';
import type { RotatedSecrets, Secret, SecretList, SecretValueInput } from './secret.ts';
import type { Stats, StatsQuery } from './stats.ts';
import type { StepPage, StepQuery } from './step.ts';
import type { Backfill, NextTicks, NextTicksQuery, ScheduleRuns, TickListQuery, TickPage } from './tick.ts';
import type { Timeline, TimelineQuery } from './timeline.ts';
import type { MadeToken, RevokedTokens, TokenList, TokenRotationInput, TokenSubmissionInput } from './token.ts';
import type { Worker, WorkerListQuery, WorkerPage } from './worker.ts';
import type {
  AppliedDefinition,
  Definition,
  DefinitionApplyInput,
  DefinitionDetail,
  DefinitionListQuery,
  DefinitionPage,
  DefinitionQuery,
  DefinitionRunInput,
  DefinitionSource,
} from './workflow/stored.ts';
import type {
  RerunRequestInput,
  Workflow,
  WorkflowDetail,
  WorkflowListQuery,
  WorkflowPage,
  WorkflowSubmissionInput,
} from './workflow/workflow.ts';

/** The request as a client writes it. */
type In<S extends z.ZodType> = z.input<S>;
type Out<S extends z.ZodType> = z.output<S>;
/** An object without fields. */
type Empty = Record<string, never>;

export const clientRoutes = {
  readRoot: route('GET /', 'read').of<{ reply: Out<typeof Welcome> }>(),

  submitJobs: route('POST /jobs', 'submit').of<{
    body: JobSubmissionInput | readonly JobSubmissionInput[];
    reply: Out<typeof Submitted>;
  }>(),
  listJobs: route('GET /jobs', 'read').of<{ query: In<typeof JobListQuery>; reply: JobPage }>(),
  bulkJobs: route('POST /jobs/bulk', 'operate').of<{ body: BulkRequestInput; reply: BulkAnswer }>(),
  readJob: route('GET /jobs/:id', 'read').of<{ reply: JobDetail }>(),
  editJob: route('PATCH /jobs/:id', 'operate').of<{ body: JobEditInput; reply: Job }>(),
  deleteJob: route('DELETE /jobs/:id', 'operate').of<{ body?: Empty; reply: Job }>(),
  cancelJob: route('POST /jobs/:id/cancel', 'operate').of<{ body?: In<typeof JobCancel>; reply: Job }>(),
  retryJob: route('POST /jobs/:id/retry', 'operate').of<{ body?: Empty; reply: Job }>(),
  rerunJob: route('POST /jobs/:id/rerun', 'submit').of<{ body?: Empty; reply: SubmittedJob }>(),
  listAttempts: route('GET /jobs/:id/attempts', 'read').of<{ reply: Out<typeof AttemptList> }>(),
  listSteps: route('GET /jobs/:id/steps', 'read').of<{ query?: In<typeof StepQuery>; reply: Out<typeof StepPage> }>(),
  listHistory: route('GET /jobs/:id/history', 'read').of<{ reply: Out<typeof History> }>(),
  readCheckpoint: route('GET /jobs/:id/checkpoint', 'read', { forHolder: true, raw: true }).of<object>(),
  readLogs: route('GET /jobs/:id/logs', 'read', { raw: true }).of<{ query: In<typeof LogQuery> }>(),
  waitJob: route('GET /jobs/:id/wait', 'read').of<{ query: In<typeof WaitQuery>; reply: Job }>(),

  applyDefinition: route('PUT /definitions/:name', 'submit').of<{
    body: DefinitionApplyInput;
    reply: AppliedDefinition;
  }>(),
  listDefinitions: route('GET /definitions', 'read').of<{
    query: In<typeof DefinitionListQuery>;
    reply: DefinitionPage;
  }>(),
  readDefinition: route('GET /definitions/:name', 'read').of<{
    query: In<typeof DefinitionQuery>;
    reply: DefinitionDetail;
  }>(),
  readDefinitionSource: route('GET /definitions/:name/source', 'submit').of<{
    query: In<typeof DefinitionQuery>;
    reply: DefinitionSource;
  }>(),
  runDefinition: route('POST /definitions/:name/run', 'submit').of<{ body?: DefinitionRunInput; reply: Workflow }>(),
  deleteDefinition: route('DELETE /definitions/:name', 'operate').of<{ body?: Empty; reply: Definition }>(),
  submitWorkflow: route('POST /workflows', 'submit').of<{ body: WorkflowSubmissionInput; reply: Workflow }>(),
  listWorkflows: route('GET /workflows', 'read').of<{
    query: In<typeof WorkflowListQuery>;
    reply: WorkflowPage;
  }>(),
  readWorkflow: route('GET /workflows/:id', 'read').of<{ reply: WorkflowDetail }>(),
  cancelWorkflow: route('POST /workflows/:id/cancel', 'operate').of<{ body?: Empty; reply: Workflow }>(),
  deleteWorkflow: route('DELETE /workflows/:id', 'operate').of<{ body?: Empty; reply: Workflow }>(),
  retryWorkflow: route('POST /workflows/:id/retry', 'operate').of<{ body?: Empty; reply: Workflow }>(),
  rerunWorkflow: route('POST /workflows/:id/rerun', 'submit').of<{ body: RerunRequestInput; reply: Workflow }>(),

  createSchedule: route('POST /schedules', 'submit').of<{ body: ScheduleSubmissionInput; reply: Schedule }>(),
  listSchedules: route('GET /schedules', 'read').of<{
    query: In<typeof ScheduleListQuery>;
    reply: SchedulePage;
  }>(),
  applySchedules: route('POST /schedules/apply', 'operate').of<{
    body: In<typeof ScheduleApply>;
    reply: ScheduleApplied;
  }>(),
  readSchedule: route('GET /schedules/:name', 'read').of<{ reply: ScheduleDetail }>(),
  putSchedule: route('PUT /schedules/:name', 'submit').of<{ body: ScheduleDeclarationInput; reply: Schedule }>(),
  editSchedule: route('PATCH /schedules/:name', 'submit').of<{ body: ScheduleEditInput; reply: Schedule }>(),
  deleteSchedule: route('DELETE /schedules/:name', 'operate').of<{ reply: Schedule }>(),
  pauseSchedule: route('POST /schedules/:name/pause', 'operate').of<{
    body?: In<typeof PauseRequest>;
    reply: Schedule;
  }>(),
  resumeSchedule: route('POST /schedules/:name/resume', 'operate').of<{ body?: Empty; reply: Schedule }>(),
  runSchedule: route('POST /schedules/:name/run', 'submit').of<{
    body?: In<typeof ScheduleRunRequest>;
    reply: ScheduleRuns;
  }>(),
  backfillSchedule: route('POST /schedules/:name/backfill', 'submit').of<{
    body: BackfillRequestInput;
    reply: Backfill;
  }>(),
  listNextTicks: route('GET /schedules/:name/next', 'read').of<{
    query: In<typeof NextTicksQuery>;
    reply: NextTicks;
  }>(),
  listTicks: route('GET /schedules/:name/ticks', 'read').of<{
    query: In<typeof TickListQuery>;
    reply: TickPage;
  }>(),

  readOperation: route('GET /operations/:id', 'read').of<{ reply: Operation }>(),
  listQueues: route('GET /queues', 'read').of<{ reply: Out<typeof QueueList> }>(),
  editQueue: route('PATCH /queues/:name', 'operate').of<{ body: QueueEditInput; reply: Queue }>(),
  deleteQueue: route('DELETE /queues/:name', 'operate').of<{ reply: Empty }>(),
  listWorkers: route('GET /workers', 'read').of<{
    query: In<typeof WorkerListQuery>;
    reply: Out<typeof WorkerPage>;
  }>(),
  listLimits: route('GET /limits', 'read').of<{ reply: Out<typeof LimitList> }>(),
  setLimit: route('PUT /limits/:key', 'operate').of<{ body: LimitEdit; reply: Limit }>(),
  deleteLimit: route('DELETE /limits/:key', 'operate').of<{ reply: Limit }>(),
  listRates: route('GET /rates', 'read').of<{ reply: Out<typeof RateList> }>(),
  drainWorker: route('POST /workers/:id/drain', 'operate').of<{ body?: Empty; reply: Worker }>(),
  undrainWorker: route('POST /workers/:id/undrain', 'operate').of<{ body?: Empty; reply: Worker }>(),
  previewSchedule: route('POST /schedules/preview', 'read').of<{
    body: SchedulePreviewRequestInput;
    reply: SchedulePreview;
  }>(),

  readCluster: route('GET /cluster', 'read').of<{ reply: Cluster }>(),
  readDoctor: route('GET /doctor', 'admin').of<{ reply: Findings }>(),
  readTimeline: route('GET /timeline', 'read').of<{ query: In<typeof TimelineQuery>; reply: Timeline }>(),
  readStats: route('GET /stats', 'read').of<{ query: In<typeof StatsQuery>; reply: Stats }>(),
  listFailures: route('GET /failures', 'read').of<{ query: In<typeof FailuresQuery>; reply: Failures }>(),
  streamEvents: route('GET /events', 'read', { raw: true }).of<{ query: In<typeof EventsQuery> }>(),

  listTokens: route('GET /tokens', 'admin').of<{ reply: Out<typeof TokenList> }>(),
  createToken: route('POST /tokens', 'admin').of<{ body: TokenSubmissionInput; reply: MadeToken }>(),
  rotateToken: route('POST /tokens/:name/rotate', 'admin').of<{ body?: TokenRotationInput; reply: MadeToken }>(),
  revokeToken: route('DELETE /tokens/:name', 'admin').of<{ reply: Out<typeof RevokedTokens> }>(),

  listSecrets: route('GET /secrets', 'admin').of<{ reply: Out<typeof SecretList> }>(),
  setSecret: route('PUT /secrets/:name', 'admin').of<{ body: SecretValueInput; reply: Secret }>(),
  deleteSecret: route('DELETE /secrets/:name', 'admin').of<{ reply: Empty }>(),
  rotateSecrets: route('POST /secrets/rotate', 'admin').of<{ body?: Empty; reply: Out<typeof RotatedSecrets> }>(),

  listNotifyTargets: route('GET /notify', 'read').of<{ reply: Out<typeof NotifyTargets> }>(),
  testNotify: route('POST /notify/test', 'operate').of<{ body: NotifyTestInput; reply: Out<typeof NotifyTested> }>(),

  listAudit: route('GET /audit', 'admin').of<{ query: In<typeof AuditQuery>; reply: AuditPage }>(),
  exportAudit: route('GET /audit/export', 'admin', { raw: true }).of<{ query: In<typeof AuditFilterQuery> }>(),

  readHealth: route('GET /health', null, { report: true }).of<{ reply: Health }>(),
  readReady: route('GET /ready', null, { report: true }).of<{ reply: Readiness }>(),
  readMetrics: route('GET /metrics', 'read', { raw: true }).of<object>(),
  readDocument: route('GET /openapi.json', 'read').of<{ reply: Record<string, unknown> }>(),
};
