import { RerunRequest, Workflow } from '../../api/workflow/workflow.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { workflowToWire } from '../../api/workflow/workflow-wire.ts';

export const rerunWorkflow = defineRoute({
  method: 'POST',
  path: '/workflows/:id/rerun',
  scope: 'submit',
  summary: 'Run a step again, and what comes after it, as a new workflow that keeps what was done before it',
  body: RerunRequest,
  answers: { 201: Workflow },
  async handle({ scheduler, params, body, signal }) {
    const request = { from: body.from, only: body.only ?? false };
    const workflow = await scheduler.rerunWorkflow(pathId(params, 'workflow_not_found'), request, signal);
    return { status: 201, json: workflowToWire(workflow), headers: { location: `/workflows/${workflow.id}` } };
  },
});
