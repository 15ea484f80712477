import { type Command, Option } from 'commander';
import { routes } from '../../api/routes.ts';
import type { WorkflowDefinition } from '../../api/workflow/definition.ts';
import { clientCommand, connect, outputOf, print, printData, terminalWidth } from '../client-command.ts';
import { definedWorkflow } from '../input/workflow.ts';
import { workflowName } from '../input/workflow-name.ts';
import { describeDefinition } from '../output/definition.ts';
import { drawGraph } from '../output/graph/draw-graph.ts';
import { bold, dim } from '../output/style.ts';
import { boxOf, paramLines, stepTable } from '../output/workflow.ts';
import { workflowDot, workflowMermaid } from '../output/workflow-export.ts';
import { showRun } from './workflow-get.ts';

interface Flags {
  ascii?: boolean;
  mermaid?: boolean;
  dot?: boolean;
  source?: boolean;
}

/** The maximum width of a drawing in a pipe. */
const MAX_DRAWING_WIDTH = 300;

/** `workron workflow show ID|NAME|FILE`: shows a run or a stored workflow, or draws the graph of a file. */
export function workflowShowCommand(): Command {
  const command = clientCommand('show', 'Show a run, a stored workflow, or the graph of a file')
    .argument('<workflow>', 'The id of a run, a stored workflow (etl, etl@3), or a file (./etl.yaml, - is stdin)')
    .option('--source', 'Print the file of a stored workflow')
    .option('--ascii', 'Draw with plain characters')
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
    else print(picture(definition, flags.ascii ?? prefersAscii(process.env)));
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

function picture(definition: WorkflowDefinition, ascii: boolean): string {
  const about = definition.description === null ? '' : `\n${dim(definition.description.trim())}`;
  const width = terminalWidth() ?? MAX_DRAWING_WIDTH;
  const drawing = drawGraph(definition.steps.map(boxOf), { ascii, width }) ?? stepTable(definition, terminalWidth());
  return `${bold(definition.name)}${about}\n${paramLines(definition)}\n${drawing}`;
}

/** True if the locale of the terminal is not UTF-8. */
function prefersAscii(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  return env['TERM'] === 'dumb' || (locale !== undefined && locale !== '' && !/utf-?8/i.test(locale));
}
