/** Stored workflow definitions: list and delete. `apply` stores them, `workflow run` and `show` take their names. */

import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { Definition, DefinitionPage } from '../../api/workflow/stored.ts';
import type { Workflow } from '../../api/workflow/workflow.ts';
import { clientCommand, connect, listCommand, outputOf, print, printData, workflowId } from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { CliError } from '../errors/cli-error.ts';
import { reportError } from '../errors/report.ts';
import { DEFINITION_COLUMNS } from '../output/definition.ts';
import { listText } from '../output/list.ts';

const LISTING = {
  columns: DEFINITION_COLUMNS,
  id: ({ name }: Definition) => name,
  none: 'no stored workflows; workron apply FILE stores one',
};

/** `workron workflow definitions`: lists stored workflows by name. */
export function workflowDefinitionsCommand(): Command {
  const command = listCommand('definitions', 'List stored workflows in their latest versions').alias('defs');
  return command.action(async () => {
    const connection = connect(command);
    const found: Definition[] = [];
    let cursor: string | undefined;
    do {
      const page: DefinitionPage = await connection.json(routes.listDefinitions, { query: { limit: 200, cursor } });
      found.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    } while (cursor !== undefined);
    print(listText(found, LISTING, outputOf(command)));
  });
}

/** `workron workflow rm ID|NAME…`: all are tried; the first error decides the exit code. */
export function workflowRmCommand(): Command {
  const command = clientCommand(
    'rm',
    'Delete ended runs with all their jobs, or stored workflows that no schedule uses',
  );
  command.argument('<workflow...>', 'Ids of runs, or names of stored workflows, whose runs stay');
  return command.action(async (words: string[]) => {
    const connection = connect(command);
    const { json, quiet } = outputOf(command);
    const deleted: (Definition | Workflow)[] = [];
    for (const word of words) {
      try {
        deleted.push(await deleteOne(connection, word));
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        reportError(error, json);
        process.exitCode ??= error.exitCode;
      }
    }
    if (json) printData(deleted, json);
    else
      for (const one of deleted)
        print(quiet ? nameOf(one) : `${'id' in one ? 'workflow' : 'stored workflow'} ${nameOf(one)} is deleted`);
  });
}

/** A number is the id of a run. */
async function deleteOne(connection: Connection, word: string): Promise<Definition | Workflow> {
  if (/^#?\d+$/.test(word)) return await connection.json(routes.deleteWorkflow, { params: { id: workflowId(word) } });
  return await connection.json(routes.deleteDefinition, { params: { name: word } });
}

function nameOf(deleted: Definition | Workflow): string {
  return 'id' in deleted ? deleted.id : deleted.name;
}
