/** Workflows: submit, list, read, cancel, retry, rerun. */

import { decode, invalid } from '../../api/decode.ts';
import { MAX_ARRAY_BYTES, MAX_JOB_BYTES, MAX_JOBS } from '../../api/job-submission.ts';
import { notifyFrom } from '../../api/notify.ts';
import { pathOf } from '../../api/route.ts';
import { routes } from '../../api/routes.ts';
import { nothing } from '../../api/schemas.ts';
import { StepCollector } from '../../api/workflow/new-steps.ts';
import { WorkflowStep } from '../../api/workflow/step.ts';
import {
  RerunRequest,
  Workflow,
  WorkflowDetail,
  WorkflowHead,
  WorkflowListQuery,
  WorkflowPage,
  WorkflowSubmission,
} from '../../api/workflow/workflow.ts';
import { stepToWire, workflowToWire } from '../../api/workflow/workflow-wire.ts';
import type { NewSteps } from '../../core/dag/new-workflow.ts';
import { WorkronError } from '../../core/error.ts';
import { authorizeJobs } from '../../scheduler/jobs/admit.ts';
import type { WorkflowView } from '../../scheduler/workflows/view-workflow.ts';
import type { Principal } from '../authenticate.ts';
import { authorizeSteps } from '../authorize.ts';
import { beforeFrom, DEFAULT_PAGE_SIZE, toCursor } from '../cursor.ts';
import { type Call, handler, Serialized } from '../handler.ts';
import { idempotencyOf, replayHeader } from '../idempotency.ts';
import { walkJsonArray } from '../json-array.ts';
import { jsonChunks } from '../json-items.ts';
import { splitJsonObject } from '../json-object.ts';
import { pathId } from '../path-id.ts';
import { checkJsonType, firstCharacter, parseJson } from '../read-json.ts';

const EXAMPLE = '{"name": "report", "steps": [{"key": "a", "command": "echo hi"}]}';

export const workflowHandlers = {
  submitWorkflow: handler(routes.submitWorkflow, {
    summary: 'Submit a workflow: all of its steps or none',
    documentedBody: WorkflowSubmission,
    bodyLimit: MAX_ARRAY_BYTES,
    replies: { 201: Workflow },
    async handle(call) {
      checkJsonType(call.bytes, call.headers['content-type']);
      const options = idempotencyOf(call);
      const { name, params = {}, notify, steps } = await readSubmission(call.bytes);
      authorizeSteps(call.principal, steps, notifyFrom(notify));
      const submission = {
        name,
        params,
        notify: notifyFrom(notify),
        steps,
        rerunOf: null,
        submittedBy: call.principal.submitter,
      };
      const { workflow, replayed } = await call.scheduler.submitWorkflow(submission, options, call.signal);
      const headers = { location: pathOf(routes.readWorkflow, workflow), ...replayHeader(replayed) };
      return { status: 201, json: workflowToWire(workflow), headers };
    },
  }),

  listWorkflows: handler(routes.listWorkflows, {
    summary: 'List workflows that match, newest first',
    query: WorkflowListQuery,
    replies: { 200: WorkflowPage },
    async handle({ scheduler, query, signal }) {
      const { limit = DEFAULT_PAGE_SIZE, cursor, ...filter } = query;
      const { items, nextBefore } = await scheduler.workflows(filter, { before: beforeFrom(cursor), limit }, signal);
      const skipped = await scheduler.skippedSteps(items, signal);
      const listed = items.map((workflow) => ({
        ...workflowToWire(workflow),
        skipped_steps: skipped.get(workflow.id) ?? null,
      }));
      return { status: 200, json: { items: listed, next_cursor: toCursor(nextBefore) } };
    },
  }),

  readWorkflow: handler(routes.readWorkflow, {
    summary: 'Read one workflow: its steps, their dependencies and progress, and its critical path',
    replies: { 200: WorkflowDetail },
    async handle({ scheduler, params, signal }) {
      const view = await scheduler.workflow(workflowId(params), signal);
      return { status: 200, json: new Serialized<WorkflowDetail>(detail(view)) };
    },
  }),

  cancelWorkflow: handler(routes.cancelWorkflow, {
    summary: 'Cancel every step of a workflow that has not ended: at once (200), or by asking workers to stop (202)',
    body: nothing.optional(),
    replies: { 200: Workflow, 202: Workflow },
    async handle({ scheduler, params, signal }) {
      const workflow = await scheduler.cancelWorkflow(workflowId(params), signal);
      const stopping = workflow.status === 'pending' || workflow.status === 'running';
      return { status: stopping ? 202 : 200, json: workflowToWire(workflow) };
    },
  }),

  deleteWorkflow: handler(routes.deleteWorkflow, {
    summary: 'Delete an ended workflow with all its jobs, and return it as it was',
    body: nothing.optional(),
    replies: { 200: Workflow },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: workflowToWire(await scheduler.deleteWorkflow(workflowId(params), signal)) };
    },
  }),

  retryWorkflow: handler(routes.retryWorkflow, {
    summary:
      'Retry the failed and cancelled steps of a workflow, and judge steps that were skipped because of them again',
    body: nothing.optional(),
    replies: { 200: Workflow },
    async handle({ scheduler, params, signal }) {
      return { status: 200, json: workflowToWire(await scheduler.retryWorkflow(workflowId(params), signal)) };
    },
  }),

  rerunWorkflow: handler(routes.rerunWorkflow, {
    summary: 'Run a step and its descendants again, as a new workflow that keeps the results of earlier steps',
    body: RerunRequest,
    replies: { 201: Workflow },
    async handle({ scheduler, principal, params, body, entry, signal }) {
      const id = workflowId(params);
      if (principal.queues !== null) await authorizeWorkflow(principal, await scheduler.workflow(id, signal));
      const request = { from: body.from, only: body.only ?? false, submittedBy: principal.submitter };
      const workflow = await scheduler.rerunWorkflow(id, request, signal);
      if (entry !== null) entry.details = { from: body.from, made: `workflow/${workflow.id}` };
      return {
        status: 201,
        json: workflowToWire(workflow),
        headers: { location: pathOf(routes.readWorkflow, workflow) },
      };
    },
  }),
};

async function authorizeWorkflow(principal: Principal, { notify, pages }: WorkflowView): Promise<void> {
  for await (const steps of pages)
    authorizeJobs(
      principal,
      steps.map(({ job }) => job),
      notify,
    );
}

function workflowId(params: Call['params']): number {
  return pathId(params, 'workflow_not_found');
}

/** Decodes steps one by one, so that 100,000 of them neither block other requests nor take much memory. */
async function readSubmission(bytes: Buffer): Promise<WorkflowHead & { steps: NewSteps }> {
  if (firstCharacter(bytes) !== '{')
    throw invalid([{ pointer: '', detail: `expected a JSON body such as ${EXAMPLE}` }]);
  const members = await splitJsonObject(bytes);
  const head: Record<string, unknown> = {};
  for (const [field, text] of members) {
    if (field === 'steps') continue;
    if (text.length > MAX_JOB_BYTES) {
      throw new WorkronError('payload_too_large', `/${field}: at most ${MAX_JOB_BYTES} bytes`);
    }
    head[field] = parseJson(text, `/${field}`);
  }
  const list = members.get('steps');
  const decoded = decode(WorkflowHead, head);
  if (list === undefined || firstCharacter(list) !== '[') {
    throw invalid([{ pointer: '/steps', detail: `expected a list of steps, as in ${EXAMPLE}` }]);
  }
  const limits = { maxItems: MAX_JOBS, maxBytesPerItem: MAX_JOB_BYTES, at: '/steps' };
  const collector = new StepCollector();
  await walkJsonArray(list, limits, (step, index) => collector.add(decode(WorkflowStep, step, `/steps/${index}`)));
  const steps = collector.finish();
  if (steps.length === 0) throw invalid([{ pointer: '/steps', detail: 'expected at least one step' }]);
  return { ...decoded, steps };
}

/** In chunks: there may be 100,000 steps. */
async function* detail({ pages, keyOf, criticalPath, ...workflow }: WorkflowView): AsyncGenerator<string> {
  yield `${JSON.stringify(workflowToWire(workflow)).slice(0, -1)},"steps":[`;
  let separator = '';
  for await (const steps of pages) {
    if (steps.length === 0) continue;
    yield separator;
    yield* jsonChunks(steps, (step) => stepToWire(step, keyOf));
    separator = ',';
  }
  yield `],"critical_path":${JSON.stringify(criticalPath())}}`;
}
