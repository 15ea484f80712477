/** The operations on jobs. */

import type { Waiting } from '../../api/waiting.ts';
import type { Attempt } from '../../core/attempt-end.ts';
import type { Step, StepsPage } from '../../core/durable.ts';
import { WorkronError } from '../../core/error.ts';
import {
  type HistoryEntry,
  historyOf,
  historySubjects,
  MAX_HISTORY_CHANGES,
  MAX_HISTORY_PARENTS,
} from '../../core/history.ts';
import type { Job, NewJob } from '../../core/job.ts';
import type { JobFilter, ListedJob } from '../../core/job-filter.ts';
import type { Operation } from '../../core/operation.ts';
import type { LogPiece } from '../../core/output.ts';
import type { Wake } from '../../ops/wake.ts';
import type { Inserted, InsertOptions } from '../../store/job-store.ts';
import type { SchedulerContext } from '../context.ts';
import { addInstallationTargets, type JobNotifications, notificationsOf } from '../notify/targets.ts';
import { pageOf } from '../page.ts';
import { maskResults } from '../secrets/secrets.ts';
import { type Admission, admissionOf, type Caller } from './admit.ts';
import { type BulkRequest, readOperation, startBulk } from './bulk.ts';
import { cancel, deleteJob, type EditRequest, edit, jobNotFound, retry } from './change-job.ts';
import { newJobOf } from './new-job-of.ts';
import { Submitter } from './submit.ts';
import { JobWaits } from './wait.ts';
import { waitingFor } from './waiting-for.ts';

export interface JobView extends Job, JobNotifications {
  /** `null` if the job is not waiting. */
  waiting: Waiting | null;
}

export interface JobPage {
  items: ListedJob[];
  /** Pass as `before` to read the next page; `null` on the last page. */
  nextBefore: number | null;
}

interface LogRequest {
  id: number;
  /** `null`: the current or last attempt. */
  attempt: number | null;
  from: number;
  maxBytes: number;
}

export interface LogSlice {
  attempt: number;
  /** In order of their offsets. */
  pieces: LogPiece[];
  /** Pass as `from` to read on. */
  next: number;
  /** True if the attempt has ended and `from` was at the end of its output. */
  ended: boolean;
}

interface RerunOptions extends Pick<InsertOptions, 'idempotency'> {
  submittedBy: string | null;
}

export interface Jobs {
  /** What a caller submits: with its rights, its name, and what the installation adds. */
  as(caller: Caller): Admission;
  /** Inserts jobs of nobody: all or none, in order. Resolves once they are on disk. */
  submit(jobs: readonly NewJob[], options: InsertOptions, signal: AbortSignal): Promise<Inserted>;
  job(id: number, signal: AbortSignal): Promise<JobView>;
  jobs(filter: JobFilter, page: { before: number | null; limit: number }, signal: AbortSignal): Promise<JobPage>;
  attempts(id: number, signal: AbortSignal): Promise<Attempt[]>;
  /** The steps of its function after this `seq`, for readers: secrets are masked, and encrypted results left out. */
  steps(id: number, after: number, signal: AbortSignal): Promise<StepsPage>;
  /** What has happened to the job, oldest first, from what is stored about it. */
  history(id: number, signal: AbortSignal): Promise<HistoryEntry[]>;
  /** Resolves with the job once it is terminal, or in its current state after `timeoutMs`. */
  wait(id: number, timeoutMs: number, signal: AbortSignal): Promise<Job>;
  /**
   * Cancels a waiting job at once and asks a running one to stop. Descendants that can no longer run are cancelled
   * too, unless `keepChildren` is set: then each child is judged by its conditions.
   */
  cancel(id: number, options: { keepChildren: boolean }, signal: AbortSignal): Promise<Job>;
  retry(id: number, signal: AbortSignal): Promise<Job>;
  /**
   * Submits a job again, in whatever status it is, as a new job with `rerunOf`: with its environment, without its parents
   * and its unique key. Throws `illegal_transition` for a step, which needs its workflow.
   */
  rerun(id: number, options: RerunOptions, signal: AbortSignal): Promise<Inserted>;
  edit(id: number, edit: EditRequest, signal: AbortSignal): Promise<Job>;
  /** Deletes an ended job with everything that is stored about it, and returns it as it was. */
  deleteJob(id: number, signal: AbortSignal): Promise<Job>;
  /** Reads the output of one attempt from the byte offset `from`. */
  log(request: LogRequest, signal: AbortSignal): Promise<LogSlice>;

  /** Counts the matching jobs (up to 1,000,000) and, unless this is a dry run, starts the operation. */
  bulk(request: BulkRequest, signal: AbortSignal): Promise<{ total: number; operation: Operation | null }>;
  operation(id: number, signal: AbortSignal): Promise<Operation>;
}

/** `bulkWake` is fired when an operation has started; waits end early when `stopped` aborts. */
export function jobsOf(context: SchedulerContext, bulkWake: Wake, stopped: AbortSignal): Jobs {
  const { store, notify } = context;
  const submitter = new Submitter(context);
  const waits = new JobWaits(context, stopped);
  return {
    as: (caller) => admissionOf(context, submitter, caller),
    submit: (jobs, options, signal) =>
      submitter.submit(
        jobs.map((job) => addInstallationTargets(job, notify)),
        options,
        signal,
      ),
    async job(id, signal) {
      const [job] = (await maskResults(context, [await readJob(context, id, signal)], signal)) as [Job];
      const notifications = await notificationsOf(context, job, signal);
      return { ...job, waiting: await waitingFor(context, job, signal), ...notifications };
    },
    jobs: async (filter, { before, limit }, signal) =>
      pageOf(await maskResults(context, await store.list(filter, { before, limit: limit + 1 }, signal), signal), limit),
    async attempts(id, signal) {
      const attempts = await store.attempts(id, signal);
      if (attempts.length === 0) await readJob(context, id, signal);
      return attempts;
    },
    steps: (id, after, signal) => readableSteps(context, id, after, signal),
    async history(id, signal) {
      const job = await readJob(context, id, signal);
      const parentIds = job.dependsOn.slice(-MAX_HISTORY_PARENTS).map(({ jobId }) => jobId);
      const parents = parentIds.length === 0 ? [] : await store.read(parentIds, signal);
      const [attempts, audit] = await Promise.all([
        store.attempts(id, signal),
        store.auditOf(historySubjects(job), MAX_HISTORY_CHANGES, signal),
      ]);
      return historyOf(job, { attempts, parents, audit });
    },
    async wait(id, timeoutMs, signal) {
      const [job] = await maskResults(context, [await waits.wait({ id, timeoutMs }, signal)], signal);
      return job as Job;
    },
    cancel: (id, { keepChildren }, signal) => cancel(context, { id, keepChildren }, signal),
    retry: (id, signal) => retry(context, id, signal),
    async rerun(id, { submittedBy, ...options }, signal) {
      const job = await readJob(context, id, signal);
      if (job.workflowId !== null) throw isStep(job);
      return await submitter.submit([newJobOf(job, submittedBy)], { ...options, rerunOf: id }, signal);
    },
    edit: (id, change, signal) => edit(context, id, change, signal),
    async deleteJob(id, signal) {
      const [job] = await maskResults(context, [await deleteJob(context, id, signal)], signal);
      return job as Job;
    },
    log: (request, signal) => readLog(context, request, signal),
    async bulk(request, signal) {
      const started = await startBulk(context, request, signal);
      bulkWake.fire();
      return started;
    },
    operation: (id, signal) => readOperation(context, id, signal),
  };
}

function isStep({ id, workflowId, stepKey }: Job): WorkronError {
  return new WorkronError(
    'illegal_transition',
    `Job ${id} belongs to the step ${stepKey} of workflow ${workflowId} and needs its parameters and results; rerun the workflow from this step`,
    { jobId: id },
  );
}

async function readJob({ store }: SchedulerContext, id: number, signal: AbortSignal): Promise<Job> {
  const [job] = await store.read([id], signal);
  if (job === undefined) throw jobNotFound(id);
  return job;
}

async function readableSteps(
  context: SchedulerContext,
  id: number,
  after: number,
  signal: AbortSignal,
): Promise<StepsPage> {
  const job = await readJob(context, id, signal);
  const { steps, next } = await context.store.jobSteps(id, after, signal);
  const shown: Step[] = [];
  for (const step of steps) {
    const sealed = context.sealing.isSealed(step.result);
    const result = sealed || step.result === null ? null : (JSON.parse(step.result) as unknown);
    const [masked] = step.result === null || sealed ? [] : await maskResults(context, [{ ...job, result }], signal);
    shown.push({ ...step, result: masked === undefined ? null : JSON.stringify(masked.result) });
  }
  return { steps: shown, next };
}

async function readLog(
  context: SchedulerContext,
  { id, attempt: asked, from, maxBytes }: LogRequest,
  signal: AbortSignal,
): Promise<LogSlice> {
  const job = await readJob(context, id, signal);
  const attempt = asked ?? job.attempt;
  const running = job.status === 'running' && job.attempt === attempt;
  // The log is read after the status: all output of an attempt is written before the attempt ends.
  const pieces = await context.store.readLog({ jobId: id, attempt, from, maxBytes }, signal);
  const next = pieces.reduce((end: number, piece: LogPiece) => Math.max(end, piece.offset + piece.data.length), from);
  return { attempt, pieces, next, ended: !running && attempt <= job.attempt && pieces.length === 0 };
}
