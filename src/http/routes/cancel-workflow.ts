import { strict } from '../../api/schemas.ts';
import { Workflow } from '../../api/workflow/workflow.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { workflowToWire } from '../../api/workflow/workflow-wire.ts';

export const cancelWorkflow = defineRoute({
  method: 'POST',
  path: '/workflows/:id/cancel',
  scope: 'operate',
  summary: 'Cancel every step of a workflow that has not ended: at once (200), or by asking workers to stop them (202)',
  body: strict({}),
  bodyOptional: true,
  answers: { 200: Workflow, 202: Workflow },
  async handle({ scheduler, params, signal }) {
    const workflow = await scheduler.cancelWorkflow(pathId(params, 'workflow_not_found'), signal);
    const stopping = workflow.status === 'pending' || workflow.status === 'running';
    return { status: stopping ? 202 : 200, json: workflowToWire(workflow) };
  },
});
