/** Reads workflow files with the code of the command line. Loaded on demand. */

import { toSteps } from '../../../src/api/workflow/definition.ts';
import { readWorkflowFile } from '../../../src/api/workflow/file.ts';
import { resolveParams } from '../../../src/api/workflow/params.ts';
import type { WorkflowSubmissionInput } from '../../../src/api/workflow/workflow.ts';

export { readWorkflowFile };

/** Returns the workflow with its parameters resolved. Throws an error that lists everything that is wrong. */
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
