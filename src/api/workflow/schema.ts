/** The JSON Schema of workflow files, for completion and checks in editors. */

import { z } from 'zod';
import { WorkflowFile } from './file.ts';

const WORKFLOW_SCHEMA_TITLE = 'Workron workflow';

/** Draft 7, which editors support. `schema/workflow.schema.json` is this document. */
export function workflowJsonSchema(): object {
  const schema = z.toJSONSchema(WorkflowFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: WORKFLOW_SCHEMA_TITLE };
}
