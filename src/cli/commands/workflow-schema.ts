import { Command } from 'commander';
import { workflowJsonSchema } from '../../api/workflow-schema.ts';
import { print } from '../client-command.ts';

/** `workron workflow schema`: what schema/workflow.schema.json holds. */
export function workflowSchemaCommand(): Command {
  return new Command('schema')
    .description('Print the JSON Schema of workflow files, for editors')
    .action(() => print(JSON.stringify(workflowJsonSchema(), null, 2)));
}
