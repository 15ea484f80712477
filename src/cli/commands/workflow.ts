/** Commands that run and change workflows. */

import { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Workflow } from '../../api/workflow/workflow.ts';
import { clientCommand, connect, outputOf, print, printData, workflowId } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { collectPairs } from '../flags/values.ts';
import { followToEnd, hasEnded } from '../follow/workflow.ts';
import { submittedWorkflow, workflowName } from '../input/workflow.ts';
import { workflowLogsCommand } from './logs.ts';
import {
  workflowDefinitionsCommand,
  workflowLintCommand,
  workflowRmCommand,
  workflowShowCommand,
} from './workflow-files.ts';
import { workflowGetCommand, workflowLsCommand } from './workflow-runs.ts';

/** `workron workflow …` */
export function workflowCommand(): Command {
  const command = new Command('workflow')
    .aliases(['wf', 'workflows'])
    .description('Run, watch, check and change workflows');
  command.addCommand(workflowDefinitionsCommand());
  command.addCommand(workflowRmCommand());
  command.addCommand(workflowRunCommand());
  command.addCommand(workflowLsCommand());
  command.addCommand(workflowGetCommand());
  command.addCommand(workflowLogsCommand());
  command.addCommand(workflowCancelCommand());
  command.addCommand(workflowRetryCommand());
  command.addCommand(workflowRerunCommand());
  command.addCommand(workflowLintCommand());
  command.addCommand(workflowShowCommand());
  command.addCommand(workflowSchemaCommand());
  return command;
}

/** `workron workflow schema`: prints schema/workflow.schema.json. */
function workflowSchemaCommand(): Command {
  return new Command('schema').description('Print the JSON Schema of workflow files, for editors').action(async () => {
    const { workflowJsonSchema } = await import('../../api/workflow/file.ts');
    print(JSON.stringify(workflowJsonSchema(), null, 2));
  });
}

interface Flags {
  param?: Record<string, string>;
  follow?: boolean;
  idempotencyKey?: string;
}

/** `workron workflow run FILE|NAME`: submits all its steps or none. */
function workflowRunCommand(): Command {
  const command = clientCommand('run', 'Run the workflow of a file, or a stored one, and print its id')
    .argument('<workflow>', 'A file (./etl.yaml, - is standard input), or a stored workflow (etl, etl@3)')
    .option('--param <NAME=VALUE>', 'Value of a parameter; may be repeated', collectPairs)
    .option('-f, --follow', 'Show the steps until the workflow ends; exit with 0 if it is done, else 1')
    .option('--idempotency-key <KEY>', 'Makes it safe to repeat: the same key submits nothing new');
  return command.action(async (path: string, flags: Flags) => {
    const named = workflowName(path);
    const given = flags.param ?? {};
    const body = 'file' in named ? await submittedWorkflow(path, given) : runOf(named, given);
    const headers = flags.idempotencyKey === undefined ? {} : { 'idempotency-key': flags.idempotencyKey };
    const connection = connect(command);
    const output = outputOf(command);
    const workflow =
      'file' in named
        ? await connection.json(routes.submitWorkflow, { body, headers })
        : await connection.json(routes.runDefinition, { params: { name: named.definition }, body, headers });
    if (output.quiet) print(workflow.id);
    else if (!output.json && flags.follow) note(`workflow ${workflow.id}`);
    else if (!output.json) print(`submitted workflow ${workflow.id}`);
    if (flags.follow) return followToEnd(connection, workflow.id, output);
    if (output.json) printData(workflow, output.json);
    else if (!output.quiet && process.stdout.isTTY) note(`follow it: workron workflow get -f ${workflow.id}`);
  });
}

/** Text is read as the type of the parameter by the server. */
function runOf({ version }: { version: number | null }, params: Record<string, string>): object {
  return { params, ...(version === null ? {} : { version }) };
}

const FOLLOW = 'Show the steps until the workflow ends; exit with 0 if it is done, else 1';

/** `workron workflow cancel ID`: cancels waiting steps at once and stops running ones. */
function workflowCancelCommand(): Command {
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
function workflowRetryCommand(): Command {
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
function workflowRerunCommand(): Command {
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
