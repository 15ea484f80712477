/** Maps stored definitions between the wire and the domain, and makes workflows from them. */

import { z } from 'zod';
import type { DefinitionUse, NewDefinition, Definition as StoredDefinition } from '../../core/dag/definition.ts';
import type { ListedWorkflow } from '../../core/dag/new-workflow.ts';
import type { Workflow } from '../../core/dag/workflow.ts';
import { DEFAULT_SPEC } from '../../core/job.ts';
import { neededQueues } from '../../core/needed-queues.ts';
import { decode, invalid } from '../decode.ts';
import { toInstant } from '../fields.ts';
import { notifyFrom } from '../notify.ts';
import { toSteps, type WorkflowDefinition } from './definition.ts';
import { readWorkflowFile } from './file.ts';
import { newStepsFrom } from './new-steps.ts';
import { type ParamValue, resolveParams } from './params.ts';
import { WorkflowStep } from './step.ts';
import type { Definition, DefinitionDetail } from './stored.ts';

/** Reads the file of a definition. Throws `bad_request` with the line and column of each mistake. */
export function newDefinitionFrom(name: string, source: string): NewDefinition {
  const { definition, problems, more } = readWorkflowFile(source);
  if (definition === null) {
    const errors = problems.filter(({ severity }) => severity === 'error');
    throw invalid(
      errors.map(({ line, column, message }) => ({
        pointer: '/source',
        detail: `line ${line}, column ${column}: ${message}`,
      })),
      errors.length + more,
    );
  }
  if (definition.name !== name) {
    throw invalid([
      { pointer: '/source', detail: `expected the name ${name}, as in the path, got ${definition.name}` },
    ]);
  }
  return { name, source, body: JSON.stringify(definition) };
}

/** Steps without the values of parameters, to check who may run them. */
export function outlineOf(definition: NewDefinition): Omit<ListedWorkflow, 'rerunOf' | 'definition'> {
  return workflowWith(bodyOf(definition), new Map());
}

/** The workflow that a run starts. Throws `bad_request` for wrong, unknown and missing parameters. */
export function workflowFrom(
  definition: NewDefinition,
  given: Readonly<Record<string, unknown>>,
): Omit<ListedWorkflow, 'rerunOf' | 'definition'> {
  const body = bodyOf(definition);
  return workflowWith(body, resolveParams(body.params, given));
}

function workflowWith(body: WorkflowDefinition, values: ReadonlyMap<string, ParamValue>) {
  const steps = newStepsFrom(decode(z.array(WorkflowStep), toSteps(body, values), '/steps'));
  return { name: body.name, params: Object.fromEntries(values), steps, notify: notifyFrom(body.notify) };
}

/** What a schedule that uses a definition runs. */
export function scheduledWorkflow(
  definition: StoredDefinition,
  { latest, params }: Pick<DefinitionUse, 'latest' | 'params'>,
) {
  const { name, version } = definition;
  const workflow = { ...workflowFrom(definition, params), definition: { name, version } };
  return { target: { workflow }, uses: { name, version, latest, params } };
}

function bodyOf({ body }: NewDefinition): WorkflowDefinition {
  return JSON.parse(body) as WorkflowDefinition;
}

export function definitionToWire(definition: StoredDefinition): Definition {
  const { description, params, steps, notify } = bodyOf(definition);
  return {
    name: definition.name,
    version: definition.version,
    description,
    params: params.map((param) => ({
      name: param.name,
      type: param.type,
      required: param.required,
      default: param.default ?? null,
      enum: param.enum === null ? null : [...param.enum],
      description: param.description,
    })),
    steps: steps.map(({ key, dependsOn }) => ({ key, depends_on: [...dependsOn] })),
    queues: queuesOf(steps, notify),
    created_at: toInstant(definition.createdAt),
  };
}

function queuesOf(steps: WorkflowDefinition['steps'], notify: WorkflowDefinition['notify']): string[] {
  const jobs = steps.map(({ job }) => ({ queue: job.queue ?? DEFAULT_SPEC.queue, notify: notifyFrom(job.notify) }));
  return [...neededQueues(jobs, notifyFrom(notify))].sort();
}

export function recentToWire(runs: readonly Workflow[]): DefinitionDetail['recent'] {
  const count = (status: Workflow['status']) => runs.filter((run) => run.status === status).length;
  const [done, failed, cancelled] = [count('done'), count('failed'), count('cancelled')];
  const ended = done + failed + cancelled;
  const times = runs.flatMap((run) => (run.status === 'done' ? (durationOf(run) ?? []) : [])).sort((a, b) => a - b);
  return {
    done,
    failed,
    cancelled,
    success_rate: ended === 0 ? null : done / ended,
    median: times[Math.floor((times.length - 1) / 2)] ?? null,
    runs: runs.map((run) => ({
      id: String(run.id),
      version: run.definition?.version ?? 0,
      status: run.status,
      created_at: toInstant(run.createdAt),
      duration: durationOf(run),
    })),
  };
}

function durationOf({ createdAt, startedAt, endedAt }: Workflow): number | null {
  return endedAt === null ? null : endedAt - (startedAt ?? createdAt);
}
