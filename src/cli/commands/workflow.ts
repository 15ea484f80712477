import { Command } from 'commander';
import { print } from '../client-command.ts';
import { workflowCancelCommand, workflowRerunCommand, workflowRetryCommand } from './workflow-change.ts';
import { workflowDefinitionsCommand, workflowRmCommand } from './workflow-definitions.ts';
import { workflowGetCommand } from './workflow-get.ts';
import { workflowLintCommand } from './workflow-lint.ts';
import { workflowLsCommand } from './workflow-ls.ts';
import { workflowRunCommand } from './workflow-run.ts';
import { workflowShowCommand } from './workflow-show.ts';

/** `workron workflow …` */
export function workflowCommand(): Command {
  const command = new Command('workflow')
    .aliases(['wf', 'workflows'])
    .description('Run, watch, check and draw workflows');
  command.addCommand(workflowDefinitionsCommand());
  command.addCommand(workflowRmCommand());
  command.addCommand(workflowRunCommand());
  command.addCommand(workflowLsCommand());
  command.addCommand(workflowGetCommand());
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
