/** Who wants to be told of what: lists of these stand on jobs, workflows, schedules and the installation. */

export const NOTIFY_EVENTS = ['failed', 'recovered', 'missed', 'late'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

/** Where messages wait to be delivered, as jobs like any other. */
export const NOTIFY_QUEUE = 'workron.notify';

/** The handler that delivers to a webhook; every worker has it, of the command line and of the library. */
export const WEBHOOK_HANDLER = 'workron.webhook';

export const DEFAULT_LATE_AFTER_MS = 300_000;

export type NotifyTarget =
  | { type: 'webhook'; url: string }
  | { type: 'command'; command: string }
  /** Whatever the installation's own list says when the time has come. */
  | { type: 'installation' };

export interface Notify {
  on: readonly NotifyEvent[];
  target: NotifyTarget;
  /** A run that has not started so long after its tick is late. */
  lateAfterMs: number;
}

/** Which ends of a job or workflow have to be noted for a list. */
export interface Watch {
  failures: boolean;
  /** A recovery is a success, so both ends matter to it. */
  successes: boolean;
}

export function watchOf(list: readonly Notify[]): Watch {
  const successes = list.some(({ on }) => on.includes('recovered'));
  return { failures: successes || list.some(({ on }) => on.includes('failed')), successes };
}

/** Whether an end like this has to be noted. */
export function isWatched(list: readonly Notify[], status: string): boolean {
  if (list.length === 0) return false;
  const { failures, successes } = watchOf(list);
  return (status === 'failed' && failures) || (status === 'done' && successes);
}
