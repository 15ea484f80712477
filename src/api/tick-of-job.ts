/** The tick that a job runs for. */

import { z } from 'zod';
import { type TickOfJob as DomainTickOfJob, TICK_KINDS } from '../core/schedule/tick.ts';
import { parseInstant, toInstant, wireId, wireInstant } from './fields.ts';
import { named } from './schemas.ts';

export const TickOfJob = named(
  'TickOfJob',
  z.object({
    schedule: z.string(),
    line: wireId,
    key: z.string().nullable().meta({ description: 'The key of for_each.' }),
    kind: z.enum(TICK_KINDS),
    scheduled_for: wireInstant,
    interval_start: wireInstant.meta({ description: 'The previous tick.' }),
    interval_end: wireInstant,
    catchup: z.boolean().meta({ description: 'True if the tick was caught up after downtime.' }),
  }),
);
export type TickOfJob = z.output<typeof TickOfJob>;

export function tickOfJobToWire(tick: DomainTickOfJob | null): TickOfJob | null {
  if (tick === null) return null;
  return {
    schedule: tick.schedule,
    line: String(tick.line),
    key: tick.key,
    kind: tick.kind,
    scheduled_for: toInstant(tick.scheduledFor),
    interval_start: toInstant(tick.intervalStart),
    interval_end: toInstant(tick.intervalEnd),
    catchup: tick.catchup,
  };
}

export function tickOfJobFromWire(wire: TickOfJob | null): DomainTickOfJob | null {
  if (wire === null) return null;
  return {
    schedule: wire.schedule,
    line: Number(wire.line),
    key: wire.key,
    kind: wire.kind,
    scheduledFor: parseInstant(wire.scheduled_for) ?? 0,
    intervalStart: parseInstant(wire.interval_start) ?? 0,
    intervalEnd: parseInstant(wire.interval_end) ?? 0,
    catchup: wire.catchup,
  };
}
