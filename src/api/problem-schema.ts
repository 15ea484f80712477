import { z } from 'zod';
import { named } from './schemas.ts';

/** A problem document as this server sends it. Apart from problem.ts, which clients load without zod. */
export const Problem = named(
  'Problem',
  z.object({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    code: z.string(),
    detail: z.string(),
    request_id: z.string(),
    errors: z.array(z.object({ pointer: z.string(), detail: z.string() })).exactOptional(),
    job_id: z.string().exactOptional(),
  }),
);
export type Problem = z.output<typeof Problem>;
