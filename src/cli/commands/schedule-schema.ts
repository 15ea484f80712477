import { Command } from 'commander';
import { print } from '../client-command.ts';

/** `workron schedule schema`: what schema/schedules.schema.json holds. */
export function scheduleSchemaCommand(): Command {
  return new Command('schema').description('Print the JSON Schema of schedule files, for editors').action(async () => {
    const { scheduleJsonSchema } = await import('../../api/schedule-file.ts');
    print(JSON.stringify(scheduleJsonSchema(), null, 2));
  });
}
