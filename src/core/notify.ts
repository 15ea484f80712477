/** Notify targets and their events. Jobs, workflows, schedules and the installation each have a list of them. */

export const NOTIFY_EVENTS = ['failed', 'recovered', 'missed', 'late'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** The queue of the jobs that deliver notifications. */
export const NOTIFY_QUEUE = 'workron.notify';

/** The handler that sends webhooks. Every worker has it, in the CLI and in the library. */
export const WEBHOOK_HANDLER = 'workron.webhook';

export const DEFAULT_LATE_AFTER_MS = 300_000;

export type NotifyTarget =
  | { type: 'webhook'; url: string }
  | { type: 'command'; command: string }
  /** The installation's own list, read when the notification is sent. */
  | { type: 'installation' };

export interface Notify {
  on: readonly NotifyEvent[];
  target: NotifyTarget;
  /** A run that has not started this long after its tick is late. */
  lateAfterMs: number;
}

/** Which ends of a job or workflow a list needs notices of. */
interface Watch {
  failures: boolean;
  /** Needed for recoveries, which are failures followed by a success. */
  successes: boolean;
}

export function watchOf(list: readonly Notify[]): Watch {
  const successes = list.some(({ on }) => on.includes('recovered'));
  return { failures: successes || list.some(({ on }) => on.includes('failed')), successes };
}

/** True if an end with this status needs a notice. */
export function isWatched(list: readonly Notify[], status: string): boolean {
  if (list.length === 0) return false;
  const { failures, successes } = watchOf(list);
  return (status === 'failed' && failures) || (status === 'done' && successes);
}
