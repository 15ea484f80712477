/** Who is told of what, as an application says it. */

import type { NotifyEvent } from '../core/notify.ts';
import type { Duration } from './options.ts';

/** A webhook gets a signed POST, a command finds the event in its environment. Messages are jobs of their own. */
export type Notify = {
  /** `failed`: after the last attempt; `recovered`: the first success after a failure; `missed`, `late`: of a schedule. */
  on: readonly NotifyEvent[];
  /** A run that has not started so long after its tick is late; 5 minutes. */
  lateAfter?: Duration;
} & ({ webhook: string; command?: undefined } | { command: string; webhook?: undefined });

/** The same as it goes over the wire. */
export function notifyToWire(list: readonly Notify[]): unknown[] {
  return list.map(({ lateAfter, ...entry }) => ({
    ...entry,
    ...(lateAfter === undefined ? {} : { late_after: lateAfter }),
  }));
}
