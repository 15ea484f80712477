/** Workflow files, and the definitions that `apply` stores from them. */

import { Command, Option } from 'commander';
import { countText } from '../../api/count-text.ts';
import { allPages } from '../../api/http-client.ts';
import { routes } from '../../api/routes.ts';
import type { WorkflowDefinition } from '../../api/workflow/definition.ts';
import type { SourceProblem } from '../../api/workflow/source.ts';
import type { Definition } from '../../api/workflow/stored.ts';
import type { Workflow } from '../../api/workflow/workflow.ts';
import {
  changeEach,
  clientCommand,
  connect,
  jsonOption,
  listCommand,
  outputOf,
  print,
  printData,
  terminalWidth,
  workflowId,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { EXIT } from '../errors/cli-error.ts';
import { nameOfInput } from '../input/file.ts';
import { definedWorkflow, problemsText, readWorkflow, workflowName } from '../input/workflow.ts';
import { bold, dim } from '../output/style.ts';
import { printList } from '../output/table.ts';
import {
  DEFINITION_COLUMNS,
  describeDefinition,
  paramLines,
  stepTable,
  workflowDot,
  workflowMermaid,
} from '../output/workflow.ts';
import { showRun } from './workflow-runs.ts';

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
    const found = await allPages((cursor) =>
      connection.json(routes.listDefinitions, { query: { limit: 200, cursor } }),
    );
    printList(found, LISTING, outputOf(command));
  });
}

/** `workron workflow rm ID|NAME…`: all are tried; the first error decides the exit code. */
export function workflowRmCommand(): Command {
  const command = clientCommand(
    'rm',
    'Delete ended runs with all their jobs, or stored workflows that no schedule uses',
  );
  command.argument('<workflow...>', 'Ids of runs, or names of stored workflows, whose runs stay');
  return command.action((words: string[]) =>
    changeEach(command, words, {
      act: deleteOne,
      id: nameOf,
      text: (one) => `${'id' in one ? 'workflow' : 'stored workflow'} ${nameOf(one)} is deleted`,
      listed: true,
    }),
  );
}

/** A number is the id of a run. */
async function deleteOne(connection: Connection, word: string): Promise<Definition | Workflow> {
  if (/^#?\d+$/.test(word)) return await connection.json(routes.deleteWorkflow, { params: { id: workflowId(word) } });
  return await connection.json(routes.deleteDefinition, { params: { name: word } });
}

function nameOf(deleted: Definition | Workflow): string {
  return 'id' in deleted ? deleted.id : deleted.name;
}

interface Flags {
  mermaid?: boolean;
  dot?: boolean;
  source?: boolean;
}

/** `workron workflow show ID|NAME|FILE`: shows a run, a stored workflow, or the steps of a file. */
export function workflowShowCommand(): Command {
  const command = clientCommand('show', 'Show a run, a stored workflow, or the steps of a file')
    .argument('<workflow>', 'The id of a run, a stored workflow (etl, etl@3), or a file (./etl.yaml, - is stdin)')
    .option('--source', 'Print the file of a stored workflow')
    .addOption(new Option('--mermaid', 'Print a Mermaid flowchart of a file').conflicts(['dot', 'json']))
    .addOption(new Option('--dot', 'Print a Graphviz document of a file').conflicts(['mermaid', 'json']));
  return command.action(async (path: string, flags: Flags) => {
    if (/^#?\d+$/.test(path)) return showRun(connect(command), path, outputOf(command));
    const named = workflowName(path);
    if (!('file' in named)) return showStored(command, named, flags);
    const definition = await definedWorkflow(path);
    const { json } = outputOf(command);
    if (json) printData(definition, json);
    else if (flags.mermaid) print(workflowMermaid(definition));
    else if (flags.dot) print(workflowDot(definition));
    else print(described(definition));
  });
}

async function showStored(
  command: Command,
  { definition: name, version }: { definition: string; version: number | null },
  flags: Flags,
): Promise<void> {
  const connection = connect(command);
  const call = { params: { name }, query: { version: version ?? undefined } };
  if (flags.source) return print((await connection.json(routes.readDefinitionSource, call)).source);
  const found = await connection.json(routes.readDefinition, call);
  const { json, quiet } = outputOf(command);
  if (json) printData(found, json);
  else print(quiet ? found.name : describeDefinition(found));
}

function described(definition: WorkflowDefinition): string {
  const about = definition.description === null ? '' : `\n${dim(definition.description.trim())}`;
  return `${bold(definition.name)}${about}\n${paramLines(definition)}\n${stepTable(definition, terminalWidth())}`;
}

/** `workron workflow lint FILE…`: prints all problems with line and column. Exit code 2 for errors, 0 for warnings. */
export function workflowLintCommand(): Command {
  const command = new Command('lint')
    .description('Check workflow files, without a running Workron')
    .argument('<file...>', 'YAML or JSON; - is standard input')
    .addOption(jsonOption());
  return command.action(async (paths: string[]) => {
    const { json } = outputOf(command);
    const files = [];
    for (const path of paths) files.push({ file: nameOfInput(path), ...(await readWorkflow(path)) });
    if (files.some(({ definition }) => definition === null)) process.exitCode = EXIT.usage;
    if (json) {
      printData(
        files.map(({ file, definition, problems, more }) => ({
          file,
          ok: definition !== null,
          problems: problems.map(problemJson),
          more,
        })),
        json,
      );
      return;
    }
    for (const { file, definition, ...found } of files) {
      print(problemsText(file, found));
      if (definition !== null) print(`${file}: ok, ${summary(definition)}`);
    }
  });
}

function summary({ steps, params }: WorkflowDefinition): string {
  return [
    countText(steps.length, 'step'),
    ...(params.length === 0 ? [] : [countText(params.length, 'parameter')]),
  ].join(', ');
}

function problemJson({ severity, line, column, message }: SourceProblem): Omit<SourceProblem, 'length' | 'sourceLine'> {
  return { severity, line, column, message };
}
