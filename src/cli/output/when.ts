/** Instants and spans as people read them. */

import type { Job } from '../../api/job.ts';
import type { Waiting } from '../../api/waiting.ts';
import { waitingText } from '../../api/words/waiting.ts';

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

/** The time of the viewer's clock: `14:05:00`, of another day `2026-11-18 02:00:00`; in a pipe the instant itself. */
export function clock(instant: string, now = Date.now()): string {
  if (!process.stdout.isTTY) return plain(instant);
  const at = localText(Date.parse(instant));
  const today = localText(now).slice(0, 11);
  return at.startsWith(today) ? at.slice(today.length) : at;
}

/** `14:05:00 (in 5m)`; in a pipe the instant itself. */
export function moment(instant: string, now = Date.now()): string {
  return process.stdout.isTTY ? `${clock(instant, now)} (${when(instant, now)})` : plain(instant);
}

/** Writes the instants in a sentence of the server as `moment` does. */
export function withMoments(sentence: string, now = Date.now()): string {
  return sentence.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (instant) => moment(instant, now));
}

/** What a job waits for, with the viewer's times. */
export function waitsFor(waiting: Waiting, now = Date.now()): string {
  return waitingText(waiting, { at: (instant) => moment(instant, now) });
}

/** `2026-11-18 02:00:00`, as Swedish writes it. */
function localText(at: number): string {
  return new Date(at).toLocaleString('sv-SE');
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
