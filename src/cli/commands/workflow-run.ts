import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import { clientCommand, connect, outputOf, print, printData } from '../client-command.ts';
import { note } from '../errors/report.ts';
import { collectPairs } from '../flags/values.ts';
import { followToEnd } from '../follow/show-workflow.ts';
import { submittedWorkflow } from '../input/workflow.ts';

interface Flags {
  param?: Record<string, string>;
  follow?: boolean;
  idempotencyKey?: string;
}

/** `workron workflow run FILE`: submits all its steps or none. */
export function workflowRunCommand(): Command {
  const command = clientCommand('run', 'Submit the workflow of a file and print its id')
    .argument('<file>', 'YAML or JSON; - is standard input')
    .option('-p, --param <NAME=VALUE>', 'Value of a parameter; may be repeated', collectPairs)
    .option('-f, --follow', 'Show its steps until it has ended; exit with 0 if it is done, else with 1')
    .option('--idempotency-key <KEY>', 'Sending the same again with the same key submits nothing new');
  return command.action(async (path: string, flags: Flags) => {
    const body = await submittedWorkflow(path, flags.param ?? {});
    const headers = flags.idempotencyKey === undefined ? {} : { 'idempotency-key': flags.idempotencyKey };
    const connection = connect(command);
    const output = outputOf(command);
    const workflow = await connection.json(routes.submitWorkflow, { body, headers });
    if (output.quiet) print(workflow.id);
    else if (!output.json && flags.follow) note(`workflow ${workflow.id}`);
    else if (!output.json) print(`submitted workflow ${workflow.id}`);
    if (flags.follow) return followToEnd(connection, workflow.id, output);
    if (output.json) printData(workflow, output.json);
    else if (!output.quiet && process.stdout.isTTY) note(`follow it: workron workflow get -f ${workflow.id}`);
  });
}
