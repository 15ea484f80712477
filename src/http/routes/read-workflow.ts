import { WorkflowDetail } from '../../api/workflow/workflow.ts';
import type { WorkflowView } from '../../scheduler/scheduler.ts';
import { jsonChunks } from '../json-items.ts';
import { pathId } from '../path-id.ts';
import { defineRoute } from '../route.ts';
import { stepToWire, workflowToWire } from '../../api/workflow/workflow-wire.ts';

export const readWorkflow = defineRoute({
  method: 'GET',
  path: '/workflows/:id',
  scope: 'read',
  summary: 'One workflow: its steps, how they depend on each other, how far they are, what took longest',
  answers: { 200: WorkflowDetail },
  async handle({ scheduler, params, signal }) {
    const view = await scheduler.workflow(pathId(params, 'workflow_not_found'), signal);
    return { status: 200, type: 'application/json; charset=utf-8', chunks: detail(view) };
  },
});

/** In pieces: there may be 100,000 steps. */
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
