import { decode, invalid } from '../../api/decode.ts';
import { MAX_ARRAY_BYTES, MAX_JOB_BYTES, MAX_JOBS } from '../../api/job-submission.ts';
import { notifyFrom } from '../../api/notify.ts';
import { WorkflowStep } from '../../api/workflow/step.ts';
import { Workflow, WorkflowHead, WorkflowSubmission } from '../../api/workflow/workflow.ts';
import { WorkronError } from '../../core/error.ts';
import type { NewSteps } from '../../scheduler/scheduler.ts';
import { walkJsonArray } from '../json-array.ts';
import { splitJsonObject } from '../json-object.ts';
import { StepIntake } from '../../api/workflow/new-steps.ts';
import { checkJsonType, firstCharacter, parseJson } from '../read-json.ts';
import { defineRoute } from '../route.ts';
import { idempotencyOf, replayHeader } from '../submission.ts';
import { workflowToWire } from '../../api/workflow/workflow-wire.ts';

const EXAMPLE = '{"name": "report", "steps": [{"key": "a", "command": "echo hi"}]}';

export const submitWorkflow = defineRoute({
  method: 'POST',
  path: '/workflows',
  scope: 'submit',
  summary: 'Submit a workflow: all of its steps or none',
  documentedBody: WorkflowSubmission,
  bodyLimit: MAX_ARRAY_BYTES,
  answers: { 201: Workflow },
  async handle(call) {
    checkJsonType(call.bytes, call.headers['content-type']);
    const options = idempotencyOf(call, '/workflows');
    const { name, params = {}, notify, steps } = await readSubmission(call.bytes);
    const submission = { name, params, notify: notifyFrom(notify), steps, rerunOf: null };
    const { workflow, replayed } = await call.scheduler.submitWorkflow(submission, options, call.signal);
    const headers = { location: `/workflows/${workflow.id}`, ...replayHeader(replayed) };
    return { status: 201, json: workflowToWire(workflow), headers };
  },
});

/** Steps one by one, so that a hundred thousand of them neither hold up others nor take much memory. */
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
  const limits = { mostItems: MAX_JOBS, mostBytesPerItem: MAX_JOB_BYTES, at: '/steps' };
  const intake = new StepIntake();
  await walkJsonArray(list, limits, (step, index) => intake.add(decode(WorkflowStep, step, `/steps/${index}`)));
  const steps = intake.finish();
  if (steps.length === 0) throw invalid([{ pointer: '/steps', detail: 'expected at least one step' }]);
  return { ...decoded, steps };
}
