/** What a handler may throw to say more than "it failed". */

import { parseDuration } from './duration.ts';
import { WorkronError } from './error.ts';

/** It failed; try again after so long, instead of what the backoff says. */
export class RetryAfter extends Error {
  readonly delayMs: number;

  constructor(delay: string | number, message = 'asked to be tried again later') {
    super(message);
    this.name = 'RetryAfter';
    this.delayMs = durationOf(delay);
  }
}

/** Not now: run again after so long. Costs nothing of the budget. */
export class Snooze extends Error {
  readonly delayMs: number;

  constructor(delay: string | number) {
    super('snoozed');
    this.name = 'Snooze';
    this.delayMs = durationOf(delay);
  }
}

/** It failed, and no other try would help. */
export class Fatal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Fatal';
  }
}

/** There is nothing to do any more. */
export class Cancel extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'Cancel';
  }
}

export type StopCause = 'timeout' | 'cancelled' | 'shutdown' | 'lost';

/** Why a handler's signal aborted: its time is over, somebody cancelled it, its worker stops, or its lease is gone. */
export class Stopped extends Error {
  readonly reason: StopCause;

  constructor(reason: StopCause, message: string) {
    super(message);
    this.name = 'Stopped';
    this.reason = reason;
  }
}

function durationOf(value: string | number): number {
  const ms = parseDuration(value);
  if (ms === undefined) throw new WorkronError('bad_request', `Expected a duration such as "90s", got ${value}`);
  return ms;
}
