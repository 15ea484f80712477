/** Notify targets and their events. Jobs, workflows, schedules and the installation each have a list of them. */

export const NOTIFY_EVENTS = ['failed', 'recovered', 'done', 'cancelled', 'slow', 'missed', 'late'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** What a target is, without its address. */
export const NOTIFY_SERVICES = ['webhook', 'slack', 'discord', 'google-chat', 'teams', 'pagerduty', 'command'] as const;
export type NotifyService = (typeof NOTIFY_SERVICES)[number];

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
  /** A run that takes longer is slow. Given if `slow` is among the events. */
  slowAfterMs?: number;
}

/** Which ends of a job or workflow a list needs notices of. */
interface Watch {
  failures: boolean;
  /** Also needed for recoveries, which are failures followed by a success. */
  successes: boolean;
  cancels: boolean;
}

export function watchOf(list: readonly Notify[]): Watch {
  const wanted = new Set(list.flatMap(({ on }) => on));
  const both = wanted.has('recovered') || wanted.has('slow');
  return {
    failures: both || wanted.has('failed'),
    successes: both || wanted.has('done'),
    cancels: wanted.has('cancelled'),
  };
}

/** True if an end with this status needs a notice. */
export function isWatched(list: readonly Notify[], status: string): boolean {
  if (list.length === 0) return false;
  const { failures, successes, cancels } = watchOf(list);
  return (status === 'failed' && failures) || (status === 'done' && successes) || (status === 'cancelled' && cancels);
}
