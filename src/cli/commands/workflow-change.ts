/** Commands that change a workflow. */

import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Workflow } from '../../api/workflow/workflow.ts';
import { clientCommand, connect, outputOf, print, printData, workflowId } from '../client-command.ts';
import { followToEnd } from '../follow/show-workflow.ts';
import { hasEnded } from '../follow/workflow.ts';

const FOLLOW = 'Show the steps until the workflow ends; exit with 0 if it is done, else 1';

/** `workron workflow cancel ID`: cancels waiting steps at once and stops running ones. */
export function workflowCancelCommand(): Command {
  const command = clientCommand('cancel', 'Cancel the waiting steps of a workflow and stop running ones').argument(
    '<id>',
    'Workflow id',
  );
  return command.action(async (text: string) => {
    const id = workflowId(text);
    const workflow = await connect(command).json(routes.cancelWorkflow, { params: { id } });
    show(
      command,
      workflow,
      hasEnded(workflow) ? `workflow ${id} ${workflow.status}` : `workflow ${id} is being stopped`,
    );
  });
}

/** `workron workflow retry ID`: runs failed and cancelled steps again. */
export function workflowRetryCommand(): Command {
  const command = clientCommand('retry', 'Retry the failed and cancelled steps of a workflow')
    .argument('<id>', 'Workflow id')
    .option('-f, --follow', FOLLOW);
  return command.action(async (text: string, { follow }: { follow?: boolean }) => {
    const id = workflowId(text);
    const connection = connect(command);
    const workflow = await connection.json(routes.retryWorkflow, { params: { id } });
    if (follow) return followToEnd(connection, id, outputOf(command));
    show(command, workflow, `workflow ${id} ${workflow.status}`);
  });
}

/** `workron workflow rerun ID --from STEP`: a new workflow that keeps the results of earlier steps. */
export function workflowRerunCommand(): Command {
  const command = clientCommand('rerun', 'Run a step of a workflow and all later steps again, as a new workflow')
    .argument('<id>', 'Workflow id')
    .requiredOption('--from <STEP>', 'The key of the step')
    .option('--only', 'Only this step, without later ones')
    .option('-f, --follow', FOLLOW);
  return command.action(async (text: string, { from, only, follow }: RerunFlags) => {
    const id = workflowId(text);
    const connection = connect(command);
    const output = outputOf(command);
    const body = { from, only: only ?? false };
    const workflow = await connection.json(routes.rerunWorkflow, { params: { id }, body });
    if (!follow || !output.json) show(command, workflow, `submitted workflow ${workflow.id}, a rerun of ${id}`);
    if (follow) await followToEnd(connection, workflow.id, output);
  });
}

interface RerunFlags {
  from: string;
  only?: boolean;
  follow?: boolean;
}

function show(command: Command, workflow: Workflow, sentence: string): void {
  const { json, quiet } = outputOf(command);
  if (json) printData(workflow, json);
  else print(quiet ? workflow.id : sentence);
}
