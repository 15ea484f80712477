/** Instants and spans as people read them. */

import type { Job } from '../../api/job.ts';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** The two largest units, rounded: `1h30m`, `41s`; below a second `250ms`. */
export function span(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))}ms`;
  const largest = UNITS.findIndex(([, size]) => Math.max(ms, 1_000) >= size);
  const [, smallest] = UNITS[largest + 1] ?? ['s', 1_000];
  let rest = Math.round(ms / smallest) * smallest;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || parts.length > 0) parts.push(count > 0 ? `${count}${unit}` : '');
    if (parts.length === 2) break;
  }
  return parts.join('');
}

/** `41s ago`, `in 5m`, within a second `now`; in a pipe the instant itself. */
export function when(instant: string | null | undefined, now = Date.now()): string {
  if (instant === null || instant === undefined) return '–';
  if (!process.stdout.isTTY) return plain(instant);
  const difference = Date.parse(instant) - now;
  if (Math.abs(difference) < 1_000) return 'now';
  return difference > 0 ? `in ${span(difference)}` : `${span(-difference)} ago`;
}

/** Without milliseconds if they are zero. */
export function plain(instant: string): string {
  return instant.replace('.000Z', 'Z');
}

type Run = Pick<Job, 'status' | 'reason' | 'error' | 'handler' | 'started_at' | 'done_at' | 'cancel_requested_at'>;

/** How long the last attempt of a job ran, or has run; `–` if the job waits, or ended while it waited for its next attempt. */
export function runTime(job: Run): string {
  const ran = job.status === 'running' || (job.done_at !== null && !endedWaiting(job));
  return ran ? between(job.started_at, job.done_at) : '–';
}

/** A running job is asked to stop before it is cancelled, unless its handler cancels it, with a reason. */
function endedWaiting({ status, reason, error, handler, cancel_requested_at }: Run): boolean {
  if (status === 'cancelled') return cancel_requested_at === null && (handler === null || error === null);
  return status === 'skipped' || reason === 'expired';
}

/** From one instant to another, or to now. */
export function between(from: string | null | undefined, to: string | null | undefined, now = Date.now()): string {
  if (from === null || from === undefined) return '–';
  return span(Math.max(0, (to === null || to === undefined ? now : Date.parse(to)) - Date.parse(from)));
}
