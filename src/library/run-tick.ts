import type { TickKind, TickOfJob } from '../core/schedule/tick.ts';

/** What a run of a schedule is told of its tick. */
export interface RunTick {
  /** The schedule's name. */
  readonly schedule: string;
  /** Of `forEach`; `null` where it has none. */
  readonly key: string | null;
  /** Due by the clock (`tick`), run by hand (`manual`), or a past tick made up for (`backfill`). */
  readonly kind: TickKind;
  readonly scheduledFor: Date;
  /** From the tick before to this one: what a report has to cover. */
  readonly intervalStart: Date;
  readonly intervalEnd: Date;
  /** It makes up for a tick that nobody was there for. */
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
