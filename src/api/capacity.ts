/** Limits and rates as they are listed and set. */

import { z } from 'zod';
import type { LimitState, RateState } from '../core/meter-state.ts';
import { toInstantOrNull, wireInstant } from './fields.ts';
import { limitMax } from './meters.ts';
import { itemsOf, named, strict } from './schemas.ts';

const waiting = z.number().meta({ description: 'Jobs that a claim has found to wait for the key.' });

export const Limit = named(
  'Limit',
  z.object({
    key: z.string(),
    max: z
      .number()
      .nullable()
      .meta({ description: 'Set for all jobs with the key; null: each job has its own limit.' }),
    running: z.number(),
    waiting,
  }),
);
export type Limit = z.output<typeof Limit>;

export const LimitList = named('LimitList', itemsOf(Limit));

export const LimitEdit = named('LimitEdit', strict({ max: limitMax }));
export type LimitEdit = z.output<typeof LimitEdit>;

export const Rate = named(
  'Rate',
  z.object({
    key: z.string(),
    started: z.number().meta({ description: 'Attempts that started within the window.' }),
    opens_at: wireInstant
      .nullable()
      .meta({ description: 'A handler has closed the key until then; null: it is open.' }),
    waiting,
  }),
);

export type Rate = z.output<typeof Rate>;

export const RateList = named('RateList', itemsOf(Rate));

export function limitToWire({ key, max, running, waiting: count }: LimitState): Limit {
  return { key, max, running, waiting: count };
}

export function rateToWire({ key, started, opensAt, waiting: count }: RateState): Rate {
  return { key, started, opens_at: toInstantOrNull(opensAt), waiting: count };
}
