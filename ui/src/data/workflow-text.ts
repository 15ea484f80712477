/** Workflow files in the page: read by the same code as on the command line. Fetched only when it is needed. */

import { toSteps } from '../../../src/api/workflow/definition.ts';
import { readWorkflowFile } from '../../../src/api/workflow/file.ts';
import { resolveParams } from '../../../src/api/workflow/params.ts';
import type { WorkflowSubmissionInput } from '../../../src/api/workflow/workflow.ts';

export { readWorkflowFile };

/** The workflow of the text with its parameters resolved; throws with all that is wrong. */
export function workflowFrom(text: string, params: Readonly<Record<string, string>>): WorkflowSubmissionInput {
  const { definition, problems } = readWorkflowFile(text);
  if (definition === null) {
    const [first] = problems;
    throw new Error(first === undefined ? 'It is not a workflow' : `Line ${first.line}: ${first.message}`);
  }
  const given = Object.entries(params).filter(
    ([name, value]) => value !== '' && definition.params.some((param) => param.name === name),
  );
  const values = resolveParams(definition.params, Object.fromEntries(given));
  const { name, notify } = definition;
  return { name, notify, params: Object.fromEntries(values), steps: toSteps(definition, values) };
}
