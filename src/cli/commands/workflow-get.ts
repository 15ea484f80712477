import type { Command } from 'commander';
import { routes } from '../../api/routes.ts';
import type { WorkflowDetail } from '../../api/workflow/workflow.ts';
import {
  clientCommand,
  connect,
  type Output,
  outputOf,
  print,
  printData,
  terminalWidth,
  workflowId,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { followToEnd } from '../follow/show-workflow.ts';
import { stepTree } from '../output/step-tree.ts';
import { dim, oneLine } from '../output/style.ts';
import { between, when } from '../output/when.ts';

/** `workron workflow get ID`: shows its steps and their states. */
export function workflowGetCommand(): Command {
  const command = clientCommand('get', 'Show a submitted workflow with its steps')
    .argument('<id>', 'Workflow id')
    .option('-f, --follow', 'Show the steps until the workflow ends; exit with 0 if it is done, else 1');
  return command.action(async (text: string, { follow }: { follow?: boolean }) => {
    const id = workflowId(text);
    const connection = connect(command);
    const output = outputOf(command);
    if (follow) return followToEnd(connection, id, output);
    await showRun(connection, text, output);
  });
}

export async function showRun(connection: Connection, text: string, { json, quiet }: Output): Promise<void> {
  const workflow = await connection.json(routes.readWorkflow, { params: { id: workflowId(text) } });
  if (json) printData(workflow, json);
  else print(quiet ? workflow.id : describe(workflow));
}

function describe(workflow: WorkflowDetail): string {
  const lines: string[] = [];
  const line = (label: string, value: string): void => {
    if (value !== '') lines.push(`${dim(label.padEnd(15))}${value}`);
  };
  const params = Object.entries(workflow.params).map(([name, value]) => `${name}=${oneLine(shown(value))}`);
  line('params', params.join('  '));
  line('rerun of', workflow.rerun_of ?? '');
  line('definition', workflow.definition == null ? '' : `${workflow.definition.name}@${workflow.definition.version}`);
  line('created', when(workflow.created_at));
  line('ended', workflow.ended_at === null ? '' : `${when(workflow.ended_at)}, after ${took(workflow)}`);
  line('critical path', workflow.critical_path.join(' → '));
  return `${stepTree(workflow, { width: terminalWidth(), rows: undefined })}\n${lines.join('\n')}\n`;
}

function took({ started_at, created_at, ended_at }: WorkflowDetail): string {
  return between(started_at ?? created_at, ended_at);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
