/** Health, readiness and the welcome of a server. */

import { z } from 'zod';
import { named } from './schemas.ts';

export const Health = named(
  'Health',
  z.object({
    status: z.enum(['ok', 'stuck']),
    instance_id: z.string(),
    uptime_seconds: z.number(),
    version: z.string(),
    driver: z.string(),
    stuck: z.array(z.string()).meta({ description: 'Loops that have not started a round for too long, or have died.' }),
  }),
);
export type Health = z.output<typeof Health>;

export const Readiness = named('Readiness', z.object({ ready: z.boolean(), problems: z.array(z.string()) }));
export type Readiness = z.output<typeof Readiness>;

export const Welcome = named(
  'Welcome',
  z.object({ name: z.string(), version: z.string(), page: z.string(), api: z.string(), try: z.string() }),
);
