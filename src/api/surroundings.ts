/** What a job can know of those around it: parameters of its workflow, its item, how its parents ended. */

import { z } from 'zod';
import { type Surroundings as DomainSurroundings, TERMINAL_STATUSES } from '../core/job.ts';
import { wireId } from './fields.ts';
import { named } from './schemas.ts';

export const Surroundings = named(
  'Surroundings',
  z.object({
    params: z.record(z.string(), z.unknown()).meta({ description: 'Of its workflow.' }),
    item: z
      .object({ value: z.unknown(), index: z.number() })
      .nullable()
      .meta({ description: 'Of a for_each step: what to work on, and its place in the list.' }),
    parents: z.array(
      z.object({
        job_id: wireId,
        key: z.string().meta({ description: 'Key of the step, else name of the job, else its id.' }),
        status: z.enum(TERMINAL_STATUSES),
        result: z.unknown(),
      }),
    ),
  }),
);
export type Surroundings = z.output<typeof Surroundings>;

export function surroundingsToWire({ params, item, parents }: DomainSurroundings): Surroundings {
  return {
    params: { ...params },
    item: item === null ? null : { value: item.value ?? null, index: item.index },
    parents: parents.map(({ jobId, key, status, result }) => ({
      job_id: String(jobId),
      key,
      status,
      result: result ?? null,
    })),
  };
}

export function surroundingsFromWire({ params, item, parents }: Surroundings): DomainSurroundings {
  return {
    params,
    item,
    parents: parents.map(({ job_id, key, status, result }) => ({ jobId: Number(job_id), key, status, result })),
  };
}
