import { Command } from 'commander';
import { workflowLintCommand } from './workflow-lint.ts';
import { workflowSchemaCommand } from './workflow-schema.ts';
import { workflowShowCommand } from './workflow-show.ts';

/** `workron workflow …` */
export function workflowCommand(): Command {
  const command = new Command('workflow').alias('wf').description('Check and show workflow files');
  command.addCommand(workflowLintCommand());
  command.addCommand(workflowShowCommand());
  command.addCommand(workflowSchemaCommand());
  return command;
}
