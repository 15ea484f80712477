import { Command } from 'commander';
import { print } from '../client-command.ts';

/** `workron workflow schema`: what schema/workflow.schema.json holds. */
export function workflowSchemaCommand(): Command {
  return new Command('schema').description('Print the JSON Schema of workflow files, for editors').action(async () => {
    const { workflowJsonSchema } = await import('../../api/workflow/schema.ts');
    print(JSON.stringify(workflowJsonSchema(), null, 2));
  });
}
