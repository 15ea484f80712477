/** Workflow files: their schema, and the parser that returns a definition or all errors. */

import { z } from 'zod';
import { label } from '../fields.ts';
import { MAX_JOBS } from '../job-submission.ts';
import { NotifyList } from '../notify.ts';
import { strict } from '../schemas.ts';
import type { StepDefinition, WorkflowDefinition } from './definition.ts';
import { findingsOf } from './issues.ts';
import { lintWorkflow } from './lint.ts';
import { workflowKey } from './names.ts';
import { ParamDeclaration, paramFrom } from './params.ts';
import { MAX_PROBLEMS, type SourceFinding, type SourcePath, type SourceProblem, WorkflowSource } from './source.ts';
import { ListedStep, MappedStep, stepDefaultsShape } from './step.ts';

const WorkflowFile = strict({
  $schema: z.string().meta({ description: 'For editors.' }).exactOptional(),
  name: label(256).meta({ description: 'The name of the workflow.', examples: ['nightly-report'] }),
  description: z.string().max(65_536).exactOptional(),
  params: z
    .record(workflowKey, ParamDeclaration)
    .meta({ description: 'Values that may differ between runs. Commands get them as WORKRON_PARAM_<NAME>.' })
    .exactOptional(),
  defaults: strict(stepDefaultsShape)
    .meta({ description: 'Defaults for steps; env is merged name by name.' })
    .exactOptional(),
  notify: NotifyList.exactOptional(),
  steps: z
    .union([
      z.array(ListedStep).min(1, 'expected at least one step').max(MAX_JOBS, `at most ${MAX_JOBS} steps`),
      z.record(workflowKey, MappedStep).refine((steps) => Object.keys(steps).length > 0, 'expected at least one step'),
    ])
    .meta({ description: 'A list of steps with keys, or a map from key to step.' }),
});
type WorkflowFile = z.output<typeof WorkflowFile>;

/** How many characters the default variables may have in all steps together. */
const MAX_DEFAULT_ENV_LENGTH = 32 * 1024 * 1024;

export interface ReadWorkflow {
  /** `null` if there are errors. */
  definition: WorkflowDefinition | null;
  /** Errors and warnings, from top to bottom; at most 100, errors before warnings. */
  problems: SourceProblem[];
  /** How many problems are left out. */
  more: number;
}

/** Never throws: returns a definition, or errors with their places in the text. */
export function readWorkflowFile(text: string): ReadWorkflow {
  const source = new WorkflowSource(text);
  if (source.problems.length > 0) return { definition: null, problems: sorted(source.problems), more: source.more };
  const { definition, findings: all } = define(source.value);
  const findings = all.toSorted((a, b) => Number(a.severity === 'warning') - Number(b.severity === 'warning'));
  const problems = sorted(findings.slice(0, MAX_PROBLEMS).map((finding) => source.locate(finding)));
  const broken = findings.some(({ severity }) => severity === 'error');
  return { definition: broken ? null : definition, problems, more: Math.max(0, findings.length - MAX_PROBLEMS) };
}

function define(value: unknown): { definition: WorkflowDefinition | null; findings: SourceFinding[] } {
  if (value === null || value === undefined) return { definition: null, findings: [emptyFile] };
  const result = WorkflowFile.safeParse(value);
  if (!result.success) return { definition: null, findings: findingsOf(result.error.issues, value) };
  const file = result.data;
  const copied = copiedLength(file);
  if (copied > MAX_DEFAULT_ENV_LENGTH) return { definition: null, findings: [tooMuchEnv(copied)] };
  const definition = {
    name: file.name,
    description: file.description ?? null,
    params: Object.entries(file.params ?? {}).map(([name, declared]) => paramFrom(name, declared)),
    notify: file.notify ?? [],
    steps: stepsOf(file),
  };
  const pathOf = (step: number): SourcePath => [
    'steps',
    Array.isArray(file.steps) ? step : (definition.steps[step] as StepDefinition).key,
  ];
  return { definition, findings: lintWorkflow(definition, pathOf) };
}

const emptyFile: SourceFinding = {
  severity: 'error',
  message: 'the file is empty: expected name and steps',
  path: [],
  at: 'value',
};

function tooMuchEnv(length: number): SourceFinding {
  const message = `env: each step gets a copy, ${length} characters in all; at most ${MAX_DEFAULT_ENV_LENGTH}`;
  return { severity: 'error', message, path: ['defaults', 'env'], at: 'key' };
}

/** The length of the default variables in all steps. */
function copiedLength({ defaults, steps }: WorkflowFile): number {
  const count = Array.isArray(steps) ? steps.length : Object.keys(steps).length;
  return defaults?.env === undefined ? 0 : count * JSON.stringify(defaults.env).length;
}

function stepsOf(file: WorkflowFile): StepDefinition[] {
  const defaults = file.defaults ?? {};
  const keyed: [string, MappedStep][] = Array.isArray(file.steps)
    ? file.steps.map(({ key, ...step }) => [key, step])
    : Object.entries(file.steps);
  return keyed.map(([key, { depends_on, if: condition, for_each, max_parallel, continue_on_failure, ...job }]) => {
    const env = { ...defaults.env, ...job.env };
    return {
      key,
      job: { ...defaults, ...job, ...(Object.keys(env).length === 0 ? {} : { env }) },
      dependsOn: typeof depends_on === 'string' ? [depends_on] : (depends_on ?? []),
      if: condition ?? 'success',
      forEach: for_each ?? null,
      maxParallel: max_parallel ?? null,
      continueOnFailure: continue_on_failure ?? false,
    };
  });
}

/** Sorts problems from top to bottom. Of several at one place it keeps the first, which causes the others. */
function sorted(problems: readonly SourceProblem[]): SourceProblem[] {
  const places = new Map<string, SourceProblem>();
  for (const problem of problems) {
    const place = `${problem.line}:${problem.column}`;
    if (!places.has(place)) places.set(place, problem);
  }
  return [...places.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** The JSON Schema of workflow files, in draft 7, which editors support. `schema/workflow.schema.json` is this document. */
export function workflowJsonSchema(): object {
  const schema = z.toJSONSchema(WorkflowFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'Workron workflow' };
}
