/** Reads whatever a handler threw. Anything can be thrown: a null-prototype object, a proxy, an error with wrong fields. */

import { inspect } from 'node:util';
import type { Thrown, ThrownBrief } from '../../core/outcome.ts';
import { cleanJson, cleanText } from '../../core/text.ts';
import { isError } from '../../ops/is-error.ts';

const MAX_ERROR_LENGTH = 8 * 1024;
const MAX_CAUSES = 4;
const MAX_ERRORS = 16;
const MAX_MESSAGE_LENGTH = 1_024;
/** What is kept until it is masked and cut: of a secret that is cut in two, the first part would be shown. */
const MAX_READ_LENGTH = 256 * 1024;
const MAX_DETAILS_LENGTH = 8 * 1024;
const UNREADABLE = 'the handler threw a value that cannot be read';

/**
 * The text for people: the stack of an error, with those of its causes and of the errors that it stands for. Not cut yet: `cutError` does
 * so. Never throws.
 */
export function textOfThrown(thrown: unknown): string {
  try {
    const texts: string[] = [];
    let value = thrown;
    while (texts.length <= MAX_CAUSES) {
      texts.push([textOfOne(value), ...errorsOf(value).map(textOfMember)].join('\n'));
      if (!isError(value) || value.cause === undefined) break;
      value = value.cause;
    }
    return cleanText(texts.join('\ncaused by: ').slice(0, MAX_READ_LENGTH));
  } catch {
    return UNREADABLE;
  }
}

/** The errors of an `AggregateError`. */
function errorsOf(value: unknown): readonly Error[] {
  if (!isError(value)) return [];
  const { errors } = value as { errors?: unknown };
  return Array.isArray(errors) ? errors.filter(isError).slice(0, MAX_ERRORS) : [];
}

function textOfMember(error: Error, place: number): string {
  return `errors[${place}]: ${textOfOne(error)}`;
}

function textOfOne(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isError(value)) {
    return inspect(value, { depth: 3, maxArrayLength: 20, maxStringLength: MAX_READ_LENGTH, customInspect: false });
  }
  const { stack, name, message } = value as { stack?: unknown; name: unknown; message: unknown };
  return typeof stack === 'string' && stack !== '' ? stack : `${String(name)}: ${String(message)}`;
}

/** The error for programs; nothing for other values, and for errors that cannot be read. Not cut yet. Never throws. */
export function thrownOf(value: unknown): { thrown?: Thrown } {
  try {
    if (!isError(value)) return {};
    const causes: ThrownBrief[] = [];
    for (let { cause } = value; isError(cause) && causes.length < MAX_CAUSES; { cause } = cause) {
      causes.push(briefOf(cause));
    }
    const errors = errorsOf(value).map(briefOf);
    const details = detailsOf((value as { details?: unknown }).details);
    return { thrown: { ...briefOf(value), details, causes, ...(errors.length > 0 && { errors }) } };
  } catch {
    return {};
  }
}

function briefOf(error: Error): ThrownBrief {
  const { code } = error as { code?: unknown };
  const isCode = typeof code === 'string' || typeof code === 'number';
  return { name: textOf(error.name), message: textOf(error.message), code: isCode ? textOf(code) : null };
}

function textOf(value: unknown): string {
  return cleanText(String(value).slice(0, MAX_READ_LENGTH));
}

/** The text for people in the length in which it is reported. */
export function cutError(text: string): string {
  return text.slice(0, MAX_ERROR_LENGTH).toWellFormed();
}

/** The error for programs in the length in which it is reported. */
export function cutThrown({ causes, errors, details, ...brief }: Thrown): Thrown {
  return { ...cutBrief(brief), details, causes: causes.map(cutBrief), ...(errors && { errors: errors.map(cutBrief) }) };
}

function cutBrief({ name, message, code }: ThrownBrief): ThrownBrief {
  const short = (text: string): string => text.slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
  return { name: short(name), message: short(message), code: code === null ? null : short(code) };
}

/** Details that are too long, or not JSON, are left out: the failure itself must arrive. */
function detailsOf(details: unknown): unknown {
  if (details === undefined || details === null) return null;
  const text = JSON.stringify(details) as string | undefined;
  return text === undefined || text.length > MAX_DETAILS_LENGTH ? null : cleanJson(JSON.parse(text));
}
