/** Commands that show runs of workflows. */

import type { Command } from 'commander';
import { firstFailed } from '../../api/first-failed.ts';
import { routes } from '../../api/routes.ts';
import type { ListedWorkflow, WorkflowDetail } from '../../api/workflow/workflow.ts';
import { WORKFLOW_STATUSES } from '../../core/dag/workflow-status.ts';
import {
  clientCommand,
  connect,
  listCommand,
  type Output,
  outputOf,
  print,
  printData,
  terminalWidth,
  workflowId,
} from '../client-command.ts';
import type { Connection } from '../connection.ts';
import { countFlag, oneOfFlag } from '../flags/values.ts';
import { followToEnd } from '../follow/workflow.ts';
import { stepTree } from '../output/step-tree.ts';
import { dim, oneLine, stateFormat, stateText } from '../output/style.ts';
import { type Column, listUpTo, printList } from '../output/table.ts';
import { between, when } from '../output/when.ts';

const MAX_PAGE_SIZE = 200;
/** Failed steps are looked up for at most this number of workflows. */
const MAX_ASKED = 10;

/** A workflow of the list, with the step that failed first. */
type Listed = ListedWorkflow & { failure?: string };

const COLUMNS: readonly Column<Listed>[] = [
  { title: 'ID', text: ({ id }) => id, align: 'right', identifies: true },
  { title: 'STATUS', text: ({ status }) => stateText(status), format: ({ status }) => stateFormat(status) },
  { title: 'WORKFLOW', text: ({ name }) => oneLine(name), flexible: true, identifies: true },
  {
    title: 'STEPS',
    // Skipped steps have not been done.
    text: ({ step_counts: { fine, total }, skipped_steps }) => `${fine - (skipped_steps ?? 0)}/${total}`,
    align: 'right',
  },
  { title: 'FAILED', text: ({ step_counts: counts }) => String(counts.failed), align: 'right' },
  { title: 'TIME', text: ({ started_at, ended_at }) => between(started_at, ended_at) },
  { title: 'CREATED', text: ({ created_at }) => when(created_at) },
  {
    title: 'VERSION',
    text: ({ definition }) => (definition == null ? '–' : String(definition.version)),
    align: 'right',
    wide: true,
  },
  { title: 'NOTE', text: noteOf, flexible: true, readable: 40 },
];

const LISTING = { columns: COLUMNS, id: ({ id }: Listed) => id, none: 'no workflows' };

interface Flags {
  status?: string;
  name?: string;
  definition?: string;
  limit: number;
}

/** `workron workflow ls`: lists workflows, newest first. */
export function workflowLsCommand(): Command {
  const command = listCommand('ls', 'List submitted workflows, newest first')
    .option('-s, --status <STATUS>', `One of ${WORKFLOW_STATUSES.join(', ')}`, oneOfFlag(WORKFLOW_STATUSES))
    .option('--name <NAME>', 'With this name')
    .option('--definition <NAME>', 'Runs of this stored workflow')
    .option('-n, --limit <NUMBER>', 'Maximum number of rows', countFlag(1, 1_000_000), 50);
  return command.action(async (flags: Flags) => {
    const output = outputOf(command);
    const connection = connect(command);
    const { limit, ...filter } = flags;
    const query = { status: filter.status, name: filter.name, definition: filter.definition };
    const { rows, more } = await listUpTo(limit, (page) =>
      connection.json(routes.listWorkflows, { query: { ...query, ...page } }),
    );
    const isPlain = output.json !== false || output.quiet;
    printList(isPlain ? rows : await withFailures(connection, rows), LISTING, output, more);
  });
}

function noteOf({ rerun_of, failure }: Listed): string {
  const parts = [failure === undefined ? '' : oneLine(failure), rerun_of === null ? '' : `rerun of ${rerun_of}`];
  return parts.filter(Boolean).join('; ');
}

/** Asks for the failed steps of the newest failed workflows. */
async function withFailures(connection: Connection, workflows: readonly ListedWorkflow[]): Promise<Listed[]> {
  const failed = workflows.filter(({ status }) => status === 'failed').slice(0, MAX_ASKED);
  const failures = new Map(
    await Promise.all(
      failed.map(async ({ id }) => {
        const query = { workflow_id: id, status: 'failed', limit: MAX_PAGE_SIZE } as const;
        const step = firstFailed((await connection.json(routes.listJobs, { query })).items);
        return [id, step === undefined ? '' : `${step.step}: ${step.failure?.line ?? 'failed'}`] as const;
      }),
    ),
  );
  return workflows.map((workflow) => {
    const failure = failures.get(workflow.id);
    return failure === undefined ? workflow : { ...workflow, failure };
  });
}

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

export async function showRun(connection: Connection, text: string, { json, quiet, wide }: Output): Promise<void> {
  const workflow = await connection.json(routes.readWorkflow, { params: { id: workflowId(text) } });
  if (json) printData(workflow, json);
  else print(quiet ? workflow.id : describe(workflow, wide));
}

function describe(workflow: WorkflowDetail, all: boolean): string {
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
  line('output', workflow.step_counts.failed === 0 ? '' : `workron workflow logs ${workflow.id} --failed`);
  return `${stepTree(workflow, { width: terminalWidth(), rows: undefined, ids: true, all })}\n${lines.join('\n')}\n`;
}

function took({ started_at, created_at, ended_at }: WorkflowDetail): string {
  return between(started_at ?? created_at, ended_at);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
