/** Values as they are after they have been stored as JSON and read back. */

import { invalid } from '../api/decode.ts';
import { MAX_JOB_BYTES } from '../api/job-submission.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { findUnclean, MAX_JSON_DEPTH } from '../core/text.ts';

/** The type of a value after JSON: `Date` becomes `string`; `undefined` and functions are dropped. */
export type Json<T> = T extends { toJSON(): infer Plain }
  ? Json<Plain>
  : T extends string | number | boolean | null
    ? T
    : T extends undefined | void
      ? null
      : T extends (...args: never[]) => unknown
        ? null
        : T extends readonly unknown[]
          ? { [Place in keyof T]: Json<T[Place]> }
          : T extends object
            ? { [Key in keyof T as T[Key] extends (...args: never[]) => unknown ? never : Key]: Json<T[Key]> }
            : unknown;

/** Returns a copy of the value as it will be read back; `bad_request` if it cannot be stored. */
export function toJson(value: unknown, what: string): unknown {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'boolean') return value;
  let plain: unknown;
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new Error(`${typeof value} has no JSON form`);
    if (text.length * 3 > MAX_JOB_BYTES && Buffer.byteLength(text) > MAX_JOB_BYTES) tooLarge(what);
    plain = JSON.parse(text);
  } catch (error) {
    if (isWorkronError(error)) throw error;
    throw invalid([
      { pointer: '', detail: `${what} is not JSON: ${error instanceof Error ? error.message : 'it is not'}` },
    ]);
  }
  const unclean = looksClean(text) ? undefined : findUnclean(plain);
  if (unclean !== undefined) throw invalid([{ pointer: unclean.pointer, detail: `${what}: ${unclean.detail}` }]);
  return plain;
}

/** True for most inputs: too short to be nested too deep, and without NUL, lone surrogates and forbidden names. */
function looksClean(text: string): boolean {
  return text.length <= 2 * MAX_JSON_DEPTH && !text.includes('\\u') && !text.includes('__proto__');
}

function tooLarge(what: string): never {
  throw new WorkronError('payload_too_large', `${what} is larger than 1 MiB`);
}
