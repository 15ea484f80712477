/** Reads whatever a handler threw. Anything can be thrown: a null-prototype object, a proxy, an error with wrong fields. */

import { inspect } from 'node:util';
import type { Thrown } from '../../core/outcome.ts';
import { cleanJson, cleanText } from '../../core/text.ts';
import { isError } from '../../ops/is-error.ts';

const MAX_ERROR_LENGTH = 8 * 1024;
const MAX_CAUSES = 4;
const MAX_MESSAGE_LENGTH = 1_024;
const MAX_DETAILS_LENGTH = 8 * 1024;
const UNREADABLE = 'the handler threw a value that cannot be read';

/** The text for people: the stack of an error, with those of its causes. Never throws. */
export function textOfThrown(thrown: unknown): string {
  try {
    const texts: string[] = [];
    let value = thrown;
    while (texts.length <= MAX_CAUSES) {
      texts.push(textOfOne(value));
      if (!isError(value) || value.cause === undefined) break;
      value = value.cause;
    }
    return cleanText(texts.join('\ncaused by: ').slice(0, MAX_ERROR_LENGTH));
  } catch {
    return UNREADABLE;
  }
}

function textOfOne(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isError(value)) {
    return inspect(value, { depth: 3, maxArrayLength: 20, maxStringLength: 1_000, customInspect: false });
  }
  const { stack, name, message } = value as { stack?: unknown; name: unknown; message: unknown };
  return typeof stack === 'string' && stack !== '' ? stack : `${String(name)}: ${String(message)}`;
}

/** The error for programs; nothing for other values, and for errors that cannot be read. Never throws. */
export function thrownOf(value: unknown): { thrown?: Thrown } {
  try {
    if (!isError(value)) return {};
    const causes: Thrown['causes'][number][] = [];
    for (let { cause } = value; isError(cause) && causes.length < MAX_CAUSES; { cause } = cause) {
      causes.push(briefOf(cause));
    }
    return { thrown: { ...briefOf(value), details: detailsOf((value as { details?: unknown }).details), causes } };
  } catch {
    return {};
  }
}

function briefOf(error: Error): Thrown['causes'][number] {
  const { code } = error as { code?: unknown };
  const isCode = typeof code === 'string' || typeof code === 'number';
  return { name: short(error.name), message: short(error.message), code: isCode ? short(code) : null };
}

function short(value: unknown): string {
  return cleanText(String(value).slice(0, MAX_MESSAGE_LENGTH));
}

/** Details that are too long, or not JSON, are left out: the failure itself must arrive. */
function detailsOf(details: unknown): unknown {
  if (details === undefined || details === null) return null;
  const text = JSON.stringify(details) as string | undefined;
  return text === undefined || text.length > MAX_DETAILS_LENGTH ? null : cleanJson(JSON.parse(text));
}
