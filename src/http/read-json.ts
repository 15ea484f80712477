/** JSON bodies, also those that curl declares as a form. */

import { isUtf8 } from 'node:buffer';
import { WorkronError } from '../core/error.ts';

/**
 * Returns the parsed body; `undefined` if there was none. curl declares every body as a form, so a form whose body is JSON
 * is accepted; other media types are refused.
 */
export function readJson(bytes: Buffer, contentType: string | undefined): unknown {
  checkJsonType(bytes, contentType);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

/** Throws `unsupported_media_type` unless the body can be read as JSON. */
export function checkJsonType(bytes: Buffer, contentType: string | undefined): void {
  if (bytes.length === 0 || contentType === undefined) return;
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type === 'application/json' || /^application\/[\w.-]+\+json$/.test(type)) return;
  if (type === 'application/x-www-form-urlencoded' && firstCharacter(bytes) !== undefined) return;
  throw new WorkronError(
    'unsupported_media_type',
    `Expected JSON, such as {"command": "echo hi"}, with Content-Type: application/json; got ${contentType}`,
  );
}

/** Throws `bad_request` with the place where the text stops being JSON. */
export function parseJson(bytes: Buffer, pointer = ''): unknown {
  if (!isUtf8(bytes)) throw new WorkronError('bad_request', 'The body is not valid UTF-8');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    const detail = `not valid JSON: ${(error as Error).message}`;
    throw new WorkronError('bad_request', pointer === '' ? `The body is ${detail}` : `${pointer}: ${detail}`, {
      errors: [{ pointer, detail }],
    });
  }
}

/** Returns the `{` or `[` that JSON messages begin with; `undefined` if it is something else. */
export function firstCharacter(bytes: Buffer): '{' | '[' | undefined {
  const first = bytes.subarray(0, 64).toString('latin1').trimStart()[0];
  return first === '{' || first === '[' ? first : undefined;
}
