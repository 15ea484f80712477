import { strict } from '../../api/schemas.ts';
import { Workflow } from '../../api/workflow/workflow.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { workflowToWire } from '../../api/workflow/workflow-wire.ts';

export const retryWorkflow = defineRoute({
  method: 'POST',
  path: '/workflows/:id/retry',
  scope: 'operate',
  summary:
    'Let the failed and cancelled steps of a workflow wait again, and judge anew what was skipped because of them',
  body: strict({}),
  bodyOptional: true,
  answers: { 200: Workflow },
  async handle({ scheduler, params, signal }) {
    const workflow = await scheduler.retryWorkflow(pathId(params, 'workflow_not_found'), signal);
    return { status: 200, json: workflowToWire(workflow) };
  },
});
