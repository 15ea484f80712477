import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { collectPairs } from '../flags/values.ts';
import { followToEnd } from '../follow/show-workflow.ts';
import { submittedWorkflow } from '../input/workflow.ts';
import { workflowName } from '../input/workflow-name.ts';

interface Flags {
  param?: Record<string, string>;
  follow?: boolean;
  idempotencyKey?: string;
}

/** `workron workflow run FILE|NAME`: submits all its steps or none. */
export function workflowRunCommand(): Command {
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
