/** Types of fields that messages share. */

import { z } from 'zod';
import { formatDuration, parseDuration } from '../core/duration.ts';

/** Ten years: longer than any sensible wait, and small enough that sums with instants cannot overflow. */
const MAX_MS = 3_650 * 86_400_000;

/** Text of at least one and at most `maxLength` characters that is not blank. */
export function text(maxLength: number) {
  return z
    .string()
    .min(1, { error: 'must not be empty', abort: true })
    .max(maxLength, `must have at most ${maxLength} characters`)
    .refine((value) => value.trim() !== '', 'must not be blank');
}

/** A name that is shown in tables and addresses: no control characters, and none that change the direction of what follows. */
export function label(maxLength: number) {
  return text(maxLength)
    .refine((value) => !/\p{Cc}/u.test(value), 'must not contain control characters')
    .refine(
      (value) => !/[\u202a-\u202e\u2066-\u2069]/.test(value),
      'must not contain characters that turn the direction of text',
    );
}

export function wholeNumber(min: number, max: number) {
  const message = `expected a whole number from ${min} to ${max}`;
  return z.int(message).min(min, message).max(max, message);
}

/** A whole number in a query. */
export function numberInQuery(min: number, max: number) {
  const message = `expected a whole number from ${min} to ${max}`;
  return z
    .string(message)
    .transform((value, context) => {
      const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.issues.push({ code: 'custom', message, input: value });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max });
}

/** The query fields of a list: page size and cursor. */
export function pageQuery({ maxCursorLength, example }: { maxCursorLength: number; example: string }) {
  return {
    limit: numberInQuery(1, 200).exactOptional(),
    cursor: z
      .string()
      .max(maxCursorLength)
      .meta({ description: 'next_cursor of the previous page.', examples: [example] })
      .exactOptional(),
  };
}

/** For lists whose cursor is an id. */
export const idPageQuery = pageQuery({ maxCursorLength: 256, example: 'YmVmb3JlOjEwMDA' });

/** An id that a store assigned: an integer below 2^53, as text. Decodes to the number. */
export const storeId = z
  .string('expected an id such as "12"')
  .regex(/^[1-9][0-9]{0,15}$/, 'expected an id such as "12"')
  .meta({ examples: ['12'] })
  .transform(Number)
  .refine(Number.isSafeInteger, 'expected an id such as "12"');

/** Returns the id in a path; `undefined` if it is malformed. */
export function idFromPath(value: string): number | undefined {
  const result = storeId.safeParse(value);
  return result.success ? result.data : undefined;
}

export const wireId = z.string().meta({ examples: ['12'] });

const DURATIONS = ['90s', '1h30m', '7d', 1500];

/** `"90s"`, `"1h30m"`, `"7d"` or milliseconds. Decodes to milliseconds. */
export function duration(minMs = 0, maxMs = MAX_MS) {
  const atLeast = minMs > 0 ? `, at least ${minMs} ms` : '';
  const message = `expected a duration such as "90s", "1h30m", "7d" or milliseconds${atLeast}, at most ${formatDuration(maxMs)}`;
  return z
    .union([z.string().regex(/^(\d+|(\d+(\.\d+)?(ms|[dhms]))+)$/, message), z.int(message)], message)
    .meta({
      examples: DURATIONS.filter((example) => (parseDuration(example) ?? 0) <= maxMs),
      description: `A duration: "90s", "1h30m", "7d" or milliseconds; at most ${formatDuration(maxMs)}.`,
    })
    .transform((value, context) => {
      const ms = parseDuration(value);
      if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
      context.issues.push({ code: 'custom', message, input: value });
      return z.NEVER;
    });
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

/** Returns epoch milliseconds of an RFC 3339 instant; `undefined` if it is malformed. */
export function parseInstant(value: string): number | undefined {
  if (!RFC_3339.test(value)) return undefined;
  const at = Date.parse(value.toUpperCase().replace(' ', 'T'));
  if (Number.isNaN(at)) return undefined;
  // Date.parse rolls 31 February over into March.
  const day = Number(value.slice(8, 10));
  const daysInMonth = new Date(Date.UTC(Number(value.slice(0, 4)), Number(value.slice(5, 7)), 0)).getUTCDate();
  return day <= daysInMonth ? at : undefined;
}

/** An RFC 3339 instant with its offset. Decodes to epoch milliseconds. */
export const instant = z
  .string('expected an instant such as "2026-01-31T09:00:00Z"')
  .meta({ format: 'date-time', examples: ['2026-01-31T09:00:00Z'] })
  .transform((value, context) => {
    const at = parseInstant(value);
    if (at !== undefined) return at;
    context.issues.push({
      code: 'custom',
      message: 'expected an instant such as "2026-01-31T09:00:00Z"',
      input: value,
    });
    return z.NEVER;
  });

type InstantOrAgo = { at: number } | { agoMs: number };

/** An instant as a person types it: RFC 3339, or `"2h"` for two hours ago. `resolveInstant` makes it epoch milliseconds. */
export const instantOrAgo = z
  .string()
  .meta({ examples: ['2026-01-31T09:00:00Z', '2h'], description: 'RFC 3339, or a duration that means "ago".' })
  .transform((value, context): InstantOrAgo => {
    const at = parseInstant(value);
    if (at !== undefined) return { at };
    const agoMs = parseDuration(value);
    if (agoMs !== undefined && agoMs <= MAX_MS) return { agoMs };
    context.issues.push({
      code: 'custom',
      message: 'expected an instant such as "2026-01-31T09:00:00Z" or a duration such as "2h" that means ago',
      input: value,
    });
    return z.NEVER;
  });

export function resolveInstant(value: InstantOrAgo, now: number): number {
  return 'at' in value ? value.at : now - value.agoMs;
}

/** What `neededQueues` finds. */
export const wireQueues = z.array(z.string()).meta({
  description: 'The queues that its runs need. A caller that is restricted to queues may run it if all are among them.',
});

export const wireInstant = z.string().meta({ format: 'date-time', examples: ['2026-01-31T09:00:00.000Z'] });

/** Formats epoch milliseconds as RFC 3339 in UTC. */
export function toInstant(at: number): string {
  return new Date(at).toISOString();
}

export function toInstantOrNull(at: number | null): string | null {
  return at === null ? null : toInstant(at);
}

export function toIdOrNull(id: number | null): string | null {
  return id === null ? null : String(id);
}
