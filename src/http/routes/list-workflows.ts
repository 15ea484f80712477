import { WorkflowListQuery, WorkflowPage } from '../../api/workflow/workflow.ts';
import { fromCursor, toCursor } from '../cursor.ts';
import { defineRoute } from '../route.ts';
import { workflowToWire } from '../../api/workflow/workflow-wire.ts';

const DEFAULT_LIMIT = 50;

export const listWorkflows = defineRoute({
  method: 'GET',
  path: '/workflows',
  scope: 'read',
  summary: 'Workflows that match, newest first',
  query: WorkflowListQuery,
  answers: { 200: WorkflowPage },
  async handle({ scheduler, query, signal }) {
    const { limit = DEFAULT_LIMIT, cursor, ...filter } = query;
    const before = cursor === undefined ? null : fromCursor(cursor);
    const page = await scheduler.workflows(filter, { before, limit }, signal);
    const next_cursor = page.nextBefore === null ? null : toCursor(page.nextBefore);
    return { status: 200, json: { items: page.items.map(workflowToWire), next_cursor } };
  },
});
