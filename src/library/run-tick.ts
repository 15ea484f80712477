import type { TickKind, TickOfJob } from '../core/schedule/tick.ts';

/** The tick that a job of a schedule runs for. */
export interface RunTick {
  /** The schedule's name. */
  readonly schedule: string;
  /** The key of `forEach`; `null` if the schedule has no keys. */
  readonly key: string | null;
  /** `tick`: due by the clock; `manual`: run on request; `backfill`: a past tick that was run later on request. */
  readonly kind: TickKind;
  readonly scheduledFor: Date;
  /** The interval from the previous tick to this one, which a report has to cover. */
  readonly intervalStart: Date;
  readonly intervalEnd: Date;
  /** True if the tick was missed and is caught up. */
  readonly catchup: boolean;
}

export function runTickOf(tick: TickOfJob | null): RunTick | null {
  if (tick === null) return null;
  const { schedule, key, kind, catchup } = tick;
  return {
    schedule,
    key,
    kind,
    scheduledFor: new Date(tick.scheduledFor),
    intervalStart: new Date(tick.intervalStart),
    intervalEnd: new Date(tick.intervalEnd),
    catchup,
  };
}
