/** The ledger of a schedule. */

import { z } from 'zod';
import { STATUSES } from '../core/job.ts';
import { CLOCK_NOTES } from '../core/schedule/clock-note.ts';
import {
  type RunState as DomainRunState,
  type Tick as DomainTick,
  TICK_KINDS,
  TICK_VERDICTS,
} from '../core/schedule/tick.ts';
import { idPageQuery, numberInQuery, toIdOrNull, toInstant, toInstantOrNull, wireId, wireInstant } from './fields.ts';
import { scheduleKey } from './schedule.ts';
import { named, pageOf, strict } from './schemas.ts';

export const Tick = named(
  'Tick',
  z.object({
    id: wireId,
    kind: z.enum(TICK_KINDS).meta({ description: 'Due by the clock, run manually, or backfilled.' }),
    key: z.string().nullable().meta({ description: 'The key of for_each.' }),
    scheduled_for: wireInstant,
    through: wireInstant.meta({ description: 'The last of count consecutive ticks with this verdict.' }),
    count: z.number(),
    verdict: z.enum(TICK_VERDICTS),
    job_id: wireId.nullable(),
    workflow_id: wireId.nullable(),
    lateness: z.number().nullable().meta({ description: 'Milliseconds from scheduled_for to the start of the run.' }),
    created_at: wireInstant.meta({ description: 'When the verdict was recorded.' }),
  }),
);
export type Tick = z.output<typeof Tick>;

export const RunState = named(
  'RunState',
  z.object({
    status: z.enum(STATUSES),
    started_at: wireInstant.nullable(),
    ended_at: wireInstant.nullable(),
  }),
).meta({ description: 'The state of a job or workflow. A run that retention has deleted keeps its status only.' });
export type RunState = z.output<typeof RunState>;

export const LedgerEntry = named(
  'LedgerEntry',
  Tick.extend({ run: RunState.nullable().meta({ description: 'How its run went; null if it has none.' }) }),
);
export type LedgerEntry = z.output<typeof LedgerEntry>;

export const TickPage = named('TickPage', pageOf(LedgerEntry));
export type TickPage = z.output<typeof TickPage>;

export const TickListQuery = strict({
  key: scheduleKey.exactOptional(),
  kind: z.enum(TICK_KINDS).exactOptional(),
  verdict: z.enum(TICK_VERDICTS).exactOptional(),
  ...idPageQuery,
});

export const ScheduleRuns = named('ScheduleRuns', z.object({ items: z.array(Tick) }));
export type ScheduleRuns = z.output<typeof ScheduleRuns>;

export const Backfill = named(
  'Backfill',
  z.object({
    dry_run: z.boolean(),
    missing: z
      .array(z.object({ key: z.string().nullable(), scheduled_for: wireInstant }))
      .meta({ description: 'Ticks of the range that had no run, oldest first.' }),
    items: z.array(Tick).meta({ description: 'The ledger entries of the new runs; none in a dry run.' }),
  }),
);
export type Backfill = z.output<typeof Backfill>;

export function backfillToWire(
  dryRun: boolean,
  { missing, ticks }: { missing: readonly { key: string; scheduledFor: number }[]; ticks: readonly DomainTick[] },
): Backfill {
  return {
    dry_run: dryRun,
    missing: missing.map(({ key, scheduledFor }) => ({
      key: key === '' ? null : key,
      scheduled_for: toInstant(scheduledFor),
    })),
    items: ticks.map(tickToWire),
  };
}

export const NextTicksQuery = strict({ count: numberInQuery(1, 1_000).exactOptional() });

export const NextTicks = named(
  'NextTicks',
  z.object({
    timezone: z.string(),
    items: z.array(
      z.object({
        utc: wireInstant,
        local: z.string().meta({ description: 'Local time in the zone, with its offset.' }),
        note: z.enum(CLOCK_NOTES).nullable().meta({ description: 'Set if the clock changes around this tick.' }),
        starts_at: wireInstant.nullable().meta({
          description: 'The tick with the delay of its jitter; null if each key of for_each has another delay.',
        }),
      }),
    ),
  }),
);
export type NextTicks = z.output<typeof NextTicks>;

export function ledgerToWire({ run, ...tick }: DomainTick & { run: DomainRunState | null }): LedgerEntry {
  if (run === null) return { ...tickToWire(tick), run: null };
  const { status, startedAt, endedAt } = run;
  return {
    ...tickToWire(tick),
    run: { status, started_at: toInstantOrNull(startedAt), ended_at: toInstantOrNull(endedAt) },
  };
}

export function tickToWire(tick: DomainTick): Tick {
  return {
    id: String(tick.id),
    kind: tick.kind,
    key: tick.key === '' ? null : tick.key,
    scheduled_for: toInstant(tick.scheduledFor),
    through: toInstant(tick.through),
    count: tick.count,
    verdict: tick.verdict,
    job_id: toIdOrNull(tick.jobId),
    workflow_id: toIdOrNull(tick.workflowId),
    lateness: tick.latenessMs,
    created_at: toInstant(tick.createdAt),
  };
}
