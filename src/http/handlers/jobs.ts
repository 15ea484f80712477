/** Jobs: submit, list, read, change; and bulk operations on them. */

import { decode, invalid } from '../../api/decode.ts';
import { toInstantOrNull } from '../../api/fields.ts';
import { History, historyToWire } from '../../api/history.ts';
import { AttemptList, Job, JobDetail, JobPage, Submitted, SubmittedJob, WaitQuery } from '../../api/job.ts';
import { JobCancel, JobEdit } from '../../api/job-edit.ts';
import { filterFromWire, filterToWire, JobListQuery } from '../../api/job-filter.ts';
import { JobSubmission, JobsSubmission, MAX_ARRAY_BYTES, MAX_JOB_BYTES, MAX_JOBS } from '../../api/job-submission.ts';
import {
  attemptToWire,
  jobDetailToWire,
  jobToWire,
  listedJobToWire,
  newJobsFrom,
  submittedJobToWire,
} from '../../api/job-wire.ts';
import { BulkAnswer, BulkRequest, Operation, operationToWire } from '../../api/operation.ts';
import { pathOf } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import { nothing } from '../../api/schemas.ts';
import { StepPage, StepQuery, stepsToWire } from '../../api/step.ts';
import { WorkronError } from '../../core/error.ts';
import { authorizeJobs, type Submission } from '../../scheduler/jobs/admit.ts';
import { newGangId } from '../../scheduler/jobs/new-gang-id.ts';
import type { Inserted } from '../../store/job-store.ts';
import { beforeFrom, DEFAULT_PAGE_SIZE, toCursor } from '../cursor.ts';
import { type Call, handler } from '../handler.ts';
import { idempotencyOf, replayHeader } from '../idempotency.ts';
import { mapJsonArray } from '../json-array.ts';
import { jsonItems } from '../json-items.ts';
import { pathId } from '../path-id.ts';
import { checkJsonType, firstCharacter, readJson } from '../read-json.ts';
import { NEWEST_SEARCHED, searchedBackTo } from '../text-window.ts';

/** The reply to a longer array is sent in chunks. */
const MAX_AT_ONCE = 500;
const DEFAULT_WAIT_MS = 30_000;

export const jobHandlers = {
  submitJobs: handler(routes.submitJobs, {
    summary: 'Submit one job, or an array of jobs: all of them or none',
    documentedBody: JobsSubmission,
    bodyLimit: MAX_ARRAY_BYTES,
    replies: { 201: Submitted },
    handle(call) {
      checkJsonType(call.bytes, call.headers['content-type']);
      return firstCharacter(call.bytes) === '[' ? submitArray(call) : submitOne(call);
    },
  }),

  listJobs: handler(routes.listJobs, {
    summary: 'List jobs that match, newest first',
    query: JobListQuery,
    replies: { 200: JobPage },
    async handle({ scheduler, query, now, signal }) {
      const { limit = DEFAULT_PAGE_SIZE, cursor, ...filter } = query;
      const matching = filterFromWire(filter, now());
      const searches = [matching.text, matching.error, matching.submittedBy].some((wanted) => wanted !== undefined);
      const wanted = { ...matching, ...(searches && { newest: NEWEST_SEARCHED }) };
      const page = await scheduler.jobs(wanted, { before: beforeFrom(cursor), limit }, signal);
      const json: JobPage = { items: page.items.map(listedJobToWire), next_cursor: toCursor(page.nextBefore) };
      if (searches) {
        json.searched_back_to = toInstantOrNull(await searchedBackTo(scheduler, NEWEST_SEARCHED, signal));
      }
      return { status: 200, json };
    },
  }),

  bulkJobs: handler(routes.bulkJobs, {
    summary: 'Cancel, retry or delete every job that matches, as an operation that can be watched',
    body: BulkRequest,
    replies: { 200: BulkAnswer, 202: BulkAnswer },
    decides: ({ action }) => action,
    async handle({ scheduler, principal, remoteAddress: address, requestId, entry, body, now, signal }) {
      const dryRun = body.dry_run ?? false;
      const filter = filterFromWire(body.filter, now());
      const askedBy = entry === null ? null : { actor: principal.name, address, requestId, partOf: entry.id };
      const { total, operation } = await scheduler.bulk({ action: body.action, filter, askedBy, dryRun }, signal);
      if (entry !== null) entry.details = { filter: filterToWire(filter), total };
      if (operation === null) return { status: 200, json: { total, dry_run: dryRun, operation } };
      return {
        status: 202,
        json: { total, dry_run: dryRun, operation: operationToWire(operation) },
        headers: { location: pathOf(routes.readOperation, operation) },
      };
    },
  }),

  readOperation: handler(routes.readOperation, {
    summary: 'Read the progress of a bulk operation',
    replies: { 200: Operation },
    async handle({ scheduler, params, signal }) {
      const operation = await scheduler.operation(pathId(params, 'operation_not_found'), signal);
      return { status: 200, json: operationToWire(operation) };
    },
  }),

  readJob: handler(routes.readJob, {
    summary: 'Read one job, and what it waits for',
    replies: { 200: JobDetail },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: jobDetailToWire(await scheduler.job(pathId(params), signal)) };
    },
  }),

  editJob: handler(routes.editJob, {
    summary: 'Change a job that waits',
    body: JobEdit,
    replies: { 200: Job },
    async handle({ scheduler, params, body, signal }) {
      const { run_at, delay, max_attempts, timeout, tags, ...same } = body;
      const edit = {
        ...same,
        ...(run_at !== undefined && { runAt: run_at }),
        ...(delay !== undefined && { delayMs: delay }),
        ...(timeout !== undefined && { timeoutMs: timeout }),
        ...(max_attempts !== undefined && { maxAttempts: max_attempts }),
        ...(tags && { tags: [...new Set(tags)] }),
      };
      return { status: 200, json: jobToWire(await scheduler.edit(pathId(params), edit, signal)) };
    },
  }),

  deleteJob: handler(routes.deleteJob, {
    summary: 'Delete an ended job with its attempts, output and result, and return it as it was',
    body: nothing.optional(),
    replies: { 200: Job },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: jobToWire(await scheduler.deleteJob(pathId(params), signal)) };
    },
  }),

  cancelJob: handler(routes.cancelJob, {
    summary: 'Cancel a job: at once (200), or by asking its worker to stop it (202)',
    body: JobCancel.optional(),
    replies: { 200: Job, 202: Job },
    async handle({ scheduler, params, body, signal }) {
      const job = await scheduler.cancel(pathId(params), { keepChildren: body?.cascade === 'none' }, signal);
      return { status: job.status === 'running' ? 202 : 200, json: jobToWire(job) };
    },
  }),

  retryJob: handler(routes.retryJob, {
    summary: 'Return a failed, cancelled or skipped job to its queue, with all of its attempts',
    body: nothing.optional(),
    replies: { 200: Job },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: jobToWire(await scheduler.retry(pathId(params), signal)) };
    },
  }),

  rerunJob: handler(routes.rerunJob, {
    summary: 'Run a job again as a new job, with its environment; rerun_of names the old one',
    body: nothing.optional(),
    replies: { 201: SubmittedJob },
    async handle(call) {
      const { scheduler, principal, signal } = call;
      const id = pathId(call.params);
      if (principal.queues !== null) authorizeJobs(principal, [await scheduler.wait(id, 0, signal)]);
      const { items, replayed } = await scheduler.rerun(
        id,
        { ...idempotencyOf(call), submittedBy: principal.submitter },
        signal,
      );
      const json = submittedJobToWire(onlyOne(items));
      if (call.entry !== null) call.entry.details = { made: `job/${json.id}` };
      return { status: 201, json, headers: { location: pathOf(routes.readJob, json), ...replayHeader(replayed) } };
    },
  }),

  listSteps: handler(routes.listSteps, {
    summary: 'List the steps of a durable function, in the order in which they were written',
    query: StepQuery,
    replies: { 200: StepPage },
    async handle({ scheduler, params, query, signal }) {
      return { status: 200, json: stepsToWire(await scheduler.steps(pathId(params), query.after ?? 0, signal)) };
    },
  }),

  listAttempts: handler(routes.listAttempts, {
    summary: 'List the ended attempts of a job, oldest first',
    replies: { 200: AttemptList },
    async handle({ scheduler, params, signal }) {
      const attempts = await scheduler.attempts(pathId(params), signal);
      return { status: 200, json: { items: attempts.map(attemptToWire) } };
    },
  }),

  listHistory: handler(routes.listHistory, {
    summary: 'List what has happened to a job, oldest first: its submission, ends of parents, attempts, its end',
    replies: { 200: History },
    async handle({ scheduler, params, signal }) {
      const entries = await scheduler.history(pathId(params), signal);
      return { status: 200, json: { items: entries.map(historyToWire) } };
    },
  }),

  waitJob: handler(routes.waitJob, {
    summary: 'Wait until a job has ended, at most for the timeout (30 s by default, 10 m at most), and read it',
    query: WaitQuery,
    long: true,
    replies: { 200: Job },
    async handle({ scheduler, params, query, polls, remoteAddress, signal }) {
      // Workers wait for jobs in the same seats.
      using _ = polls.take(remoteAddress);
      const { timeout: timeoutMs = DEFAULT_WAIT_MS } = query;
      return { status: 200, json: jobToWire(await scheduler.wait(pathId(params), timeoutMs, signal)) };
    },
  }),
};

async function submitOne(call: Call) {
  const options = idempotencyOf(call);
  if (call.bytes.length > MAX_JOB_BYTES) {
    throw new WorkronError('payload_too_large', `One job may have at most ${MAX_JOB_BYTES} bytes`);
  }
  const value = readJson(call.bytes, call.headers['content-type']);
  if (value === undefined) {
    throw invalid([{ pointer: '', detail: 'expected a JSON body such as {"command": "echo hi"}' }]);
  }
  const submission = decode(JobSubmission, value);
  const { items, replayed } = await call.scheduler
    .as(call.principal)
    .submit([submissionOf(submission, '')], options, call.signal);
  if (submission.gang !== undefined) return submittedItems(items, replayed);
  const json = submittedJobToWire(onlyOne(items));
  return {
    status: 201 as const,
    json,
    headers: { location: pathOf(routes.readJob, json), ...replayHeader(replayed) },
  };
}

/** Throws `job_not_found` where a call is answered again, and the job that it made has been deleted. */
function onlyOne([item]: Inserted['items']): Inserted['items'][number] {
  if (item !== undefined) return item;
  throw new WorkronError('job_not_found', 'The job of this Idempotency-Key has been deleted');
}

async function submitArray(call: Call) {
  const options = idempotencyOf(call);
  const limits = { maxItems: MAX_JOBS, maxBytesPerItem: MAX_JOB_BYTES };
  const submitted = await mapJsonArray(call.bytes, limits, (item, index) =>
    submissionOf(decode(JobSubmission, item, `/${index}`), `/${index}`),
  );
  const { items, replayed } = await call.scheduler.as(call.principal).submit(submitted, options, call.signal);
  return submittedItems(items, replayed);
}

function submissionOf(submission: JobSubmission, pointer: string): Submission {
  return { jobs: newJobsFrom(submission, newGangId), failFast: submission.gang?.fail_fast ?? false, pointer };
}

function submittedItems(items: Inserted['items'], replayed: boolean) {
  const atOnce = items.length <= MAX_AT_ONCE;
  const json = atOnce ? { items: items.map(submittedJobToWire) } : jsonItems(items, submittedJobToWire);
  return { status: 201 as const, json, headers: replayHeader(replayed) };
}
