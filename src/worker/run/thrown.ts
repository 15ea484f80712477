/** Reads whatever a handler threw. Anything can be thrown: a null-prototype object, a proxy, an error with wrong fields. */

import { inspect } from 'node:util';
import { cleanText } from '../../core/text.ts';

const MAX_ERROR_LENGTH = 8 * 1024;
const MAX_CAUSES = 4;
const UNREADABLE = 'the handler threw a value that cannot be read';

/** The text for people: the stack of an error, with those of its causes. Never throws. */
export function textOfThrown(thrown: unknown): string {
  try {
    const texts: string[] = [];
    for (let value = thrown; texts.length <= MAX_CAUSES; value = (value as Error).cause) {
      texts.push(textOfOne(value));
      if (!Error.isError(value) || value.cause === undefined) break;
    }
    return cleanText(texts.join('\ncaused by: ').slice(0, MAX_ERROR_LENGTH));
  } catch {
    return UNREADABLE;
  }
}

function textOfOne(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Error.isError(value)) {
    return inspect(value, { depth: 3, maxArrayLength: 20, maxStringLength: 1_000, customInspect: false });
  }
  const { stack, name, message } = value as { stack?: unknown; name: unknown; message: unknown };
  return typeof stack === 'string' && stack !== '' ? stack : `${String(name)}: ${String(message)}`;
}
