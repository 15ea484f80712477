import { Command, Option } from 'commander';
import type { WorkflowDefinition } from '../../api/workflow/definition.ts';
import { print, printData, terminalWidth } from '../client-command.ts';
import { definedWorkflow } from '../input/workflow.ts';
import { drawGraph } from '../output/graph/draw-graph.ts';
import { bold, dim } from '../output/style.ts';
import { boxOf, paramLines, stepTable } from '../output/workflow.ts';
import { workflowDot, workflowMermaid } from '../output/workflow-export.ts';

interface Flags {
  ascii?: boolean;
  mermaid?: boolean;
  dot?: boolean;
  json?: boolean;
}

/** The maximum width of a drawing in a pipe. */
const MAX_DRAWING_WIDTH = 300;

/** `workron workflow show FILE`: draws its graph. */
export function workflowShowCommand(): Command {
  const command = new Command('show')
    .description('Draw the graph of a workflow file')
    .argument('<file>', 'YAML or JSON; - is standard input')
    .option('--ascii', 'Draw with plain characters')
    .addOption(new Option('--mermaid', 'Print a Mermaid flowchart').conflicts(['dot', 'json']))
    .addOption(new Option('--dot', 'Print a Graphviz document').conflicts(['mermaid', 'json']))
    .option('--json', 'Print the definition, with defaults filled in');
  return command.action(async (path: string, flags: Flags) => {
    const definition = await definedWorkflow(path);
    if (flags.json) printData(definition, 'json');
    else if (flags.mermaid) print(workflowMermaid(definition));
    else if (flags.dot) print(workflowDot(definition));
    else print(picture(definition, flags.ascii ?? prefersAscii(process.env)));
  });
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
