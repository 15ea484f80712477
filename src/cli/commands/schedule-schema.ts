import { Command } from 'commander';
import { scheduleJsonSchema } from '../../api/schedule-file.ts';
import { print } from '../client-command.ts';

/** `workron schedule schema`: what schema/schedules.schema.json holds. */
export function scheduleSchemaCommand(): Command {
  return new Command('schema')
    .description('Print the JSON Schema of schedule files, for editors')
    .action(() => print(JSON.stringify(scheduleJsonSchema(), null, 2)));
}
