/** Notifications, as an application declares them. */

import type { NotifyEvent } from '../core/notify.ts';
import type { Duration } from './options.ts';

/** A webhook gets a signed POST; a command finds the event in its environment. Notifications are delivered by jobs. */
export type Notify = {
  /**
   * `failed`: the last attempt failed; `recovered`: the first success after a failure; `done`, `cancelled`: every such end; `slow`: it
   * took longer than `slowAfter`; `missed`, `late`: ticks of a schedule.
   */
  on: readonly NotifyEvent[];
  /** A run that has not started this long after its tick is late. Default: 5 minutes. */
  lateAfter?: Duration | undefined;
  /** Needed for `slow`. */
  slowAfter?: Duration | undefined;
} & ({ webhook: string; command?: undefined } | { command: string; webhook?: undefined });

/** The list as the API takes it. */
export function notifyToWire(list: readonly Notify[]): unknown[] {
  return list.map(({ lateAfter, slowAfter, ...entry }) => ({
    ...entry,
    ...(lateAfter === undefined ? {} : { late_after: lateAfter }),
    ...(slowAfter === undefined ? {} : { slow_after: slowAfter }),
  }));
}
