/** The run context of a job: the parameters of its workflow, its item, and the results of its parents. */

import { z } from 'zod';
import { type RunContext as DomainRunContext, TERMINAL_STATUSES } from '../core/job.ts';
import { wireId } from './fields.ts';
import { named } from './schemas.ts';

export const RunContext = named(
  'RunContext',
  z.object({
    workflow: z
      .object({ id: wireId, step: z.string() })
      .nullable()
      .default(null)
      .meta({ description: 'The workflow and the step that the job runs for.' }),
    params: z.record(z.string(), z.unknown()).meta({ description: 'The parameters of its workflow.' }),
    item: z
      .object({ value: z.unknown(), index: z.number() })
      .nullable()
      .meta({ description: 'For an item of a for_each step: its value and its position in the list.' }),
    parents: z.array(
      z.object({
        job_id: wireId,
        key: z.string().meta({ description: 'The key of the step, else the name of the job, else its id.' }),
        status: z.enum(TERMINAL_STATUSES),
        result: z.unknown().optional().meta({
          description: 'With `results_once`: absent if an earlier job of the same reply has it.',
        }),
      }),
    ),
  }),
);
export type RunContext = z.output<typeof RunContext>;

/** `sentResults`: ids of parents whose results are not repeated; the parents of this job are added to it. */
export function runContextToWire(
  { workflow, params, item, parents }: DomainRunContext,
  sentResults: Set<number> | null = null,
): RunContext {
  return {
    workflow: workflow === null ? null : { id: String(workflow.id), step: workflow.step },
    params: { ...params },
    item: item === null ? null : { value: item.value ?? null, index: item.index },
    parents: parents.map(({ jobId, key, status, result }) => {
      const parent = { job_id: String(jobId), key, status };
      if (sentResults?.has(jobId)) return parent;
      sentResults?.add(jobId);
      return { ...parent, result: result ?? null };
    }),
  };
}

/** `results`: the results of parents of earlier jobs, by id; those of this job are added to it. */
export function runContextFromWire(
  { workflow, params, item, parents }: RunContext,
  results: Map<string, unknown>,
): DomainRunContext {
  return {
    workflow: workflow === null ? null : { id: Number(workflow.id), step: workflow.step },
    params,
    item,
    parents: parents.map(({ job_id, key, status, result }) => {
      if (result !== undefined) results.set(job_id, result);
      return { jobId: Number(job_id), key, status, result: results.get(job_id) ?? null };
    }),
  };
}
