/** Reads workflow files and shows their problems. */

import type { WorkflowDefinition } from '../../api/workflow/definition.ts';
import type { ReadWorkflow } from '../../api/workflow/file.ts';
import type { SourceProblem } from '../../api/workflow/source.ts';
import { CliError, EXIT, usageError } from '../errors/cli-error.ts';
import { oneLine, styled } from '../output/style.ts';
import { displayWidth } from '../output/table.ts';
import { nameOfInput, readInput } from './file.ts';

/** Longer lines are cut around the problem. */
const MAX_LINE_LENGTH = 160;

/** Reads and checks a file; `-` is standard input. Throws only if the file cannot be read. */
export async function readWorkflow(path: string): Promise<ReadWorkflow> {
  const text = await readText(path);
  // Loaded on demand, with zod and yaml: most commands of workflows and schedules read no file.
  const { readWorkflowFile } = await import('../../api/workflow/file.ts');
  return readWorkflowFile(text);
}

/** Like `readWorkflow`, but prints problems to stderr and throws if the workflow is invalid. */
export async function definedWorkflow(path: string): Promise<WorkflowDefinition> {
  const read = await readWorkflow(path);
  const name = nameOfInput(path);
  if (read.definition !== null) return read.definition;
  process.stderr.write(problemsText(name, read));
  throw new CliError(EXIT.usage, `${name} is not a valid workflow`);
}

/** Reads a workflow as the API takes it, with its parameters resolved. */
export async function submittedWorkflow(path: string, params: Record<string, string>): Promise<object> {
  const definition = await definedWorkflow(path);
  const { resolveParams } = await import('../../api/workflow/params.ts');
  const { toSteps } = await import('../../api/workflow/definition.ts');
  const values = resolveParams(definition.params, params);
  const { name, notify } = definition;
  return { name, notify, params: Object.fromEntries(values), steps: toSteps(definition, values) };
}

/** Reads a file as UTF-8; `-` is standard input. */
export async function readText(path: string): Promise<string> {
  return decodeText(path, await readInput(path));
}

/** All problems of a file, and how many are left out. */
export function problemsText(file: string, { problems, more }: Pick<ReadWorkflow, 'problems' | 'more'>): string {
  const rest = more === 0 ? '' : `${file}: and ${more} more\n`;
  return problems.map((problem) => problemText(file, problem)).join('') + rest;
}

/** `etl.yaml:14:5 error: …`, the source line, and a caret below the problem. */
function problemText(file: string, problem: SourceProblem): string {
  const word = styled(problem.severity === 'error' ? 'red' : 'yellow', `${problem.severity}:`);
  const { before, marked, after } = excerpt(problem);
  const margin = `${problem.line} | `;
  const caret = `${' '.repeat(margin.length - 2)}| ${blank(before)}${'^'.repeat(Math.max(1, displayWidth(marked)))}`;
  return `${file}:${problem.line}:${problem.column} ${word} ${oneLine(problem.message)}\n  ${margin}${before}${marked}${after}\n  ${caret}\n`;
}

/** The source line around the problem, without control characters. */
function excerpt({ sourceLine, column, length }: SourceProblem): { before: string; marked: string; after: string } {
  const start = column - 1;
  const before = sourceLine.slice(0, start);
  const marked = sourceLine.slice(start, Math.min(start + length, start + MAX_LINE_LENGTH / 2));
  const after = sourceLine.slice(start + marked.length);
  const room = Math.floor((MAX_LINE_LENGTH - marked.length) / 2);
  return {
    before: clean(before.length > room * 2 ? `…${before.slice(before.length - room)}` : before),
    marked: clean(marked),
    after: clean(after.length > room * 2 ? `${after.slice(0, room)}…` : after),
  };
}

function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, '\uFFFD');
}

/** Returns spaces as wide as the text. Tabs are kept. */
function blank(text: string): string {
  return text
    .split('\t')
    .map((part) => ' '.repeat(displayWidth(part)))
    .join('\t');
}

function decodeText(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CliError(EXIT.usage, `${nameOfInput(path)} is not UTF-8 text`);
  }
}

type WorkflowName = { file: string } | { definition: string; version: number | null };

/** `etl` and `etl@3` are stored definitions; `./etl`, `etl.yaml` and `-` are files. */
export function workflowName(text: string): WorkflowName {
  if (text === '-' || text.includes('/') || /\.(ya?ml|json)$/i.test(text)) return { file: text };
  const [definition = '', version, ...rest] = text.split('@');
  if (rest.length > 0 || definition === '' || (version !== undefined && !/^([1-9]\d{0,8}|latest)$/.test(version))) {
    throw usageError(`"${text}" is neither a file nor a stored workflow`, 'such as ./etl.yaml, etl or etl@3');
  }
  return { definition, version: version === undefined || version === 'latest' ? null : Number(version) };
}
