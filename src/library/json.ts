/** Values as they are after they have been stored as JSON and read back. */

import { invalid } from '../api/decode.ts';
import { MAX_JOB_BYTES } from '../api/job-submission.ts';
import { isWorkronError, WorkronError } from '../core/error.ts';
import { findUnclean, MAX_JSON_DEPTH } from '../core/text.ts';

/** What JSON has no form for: dropped from objects, `null` in arrays. */
type Dropped = undefined | void | symbol | ((...args: never[]) => unknown);

/** Keys of the properties that may be missing after JSON. */
type LooseKeys<T> = {
  [Key in keyof T]-?: Key extends symbol
    ? never
    : Extract<T[Key], Dropped> extends never
      ? unknown extends T[Key]
        ? Key
        : never
      : Key;
}[keyof T];

/**
 * The type of a value after JSON: `Date` becomes `string`. A property that can be `undefined` becomes optional, because it
 * is left out; functions are dropped; a `Map` or `Set` becomes an empty object.
 */
export type Json<T> = 0 extends 1 & T
  ? T
  : T extends { toJSON(): infer Plain }
    ? Json<Plain>
    : T extends string | number | boolean | null
      ? T
      : T extends Dropped
        ? null
        : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
          ? Record<string, never>
          : T extends readonly unknown[]
            ? { [Place in keyof T]: Json<T[Place]> }
            : T extends object
              ? JsonObject<T>
              : T extends bigint
                ? never
                : unknown;

type JsonObject<T> = {
  [Key in keyof T as Key extends symbol | LooseKeys<T> ? never : Key]: Json<T[Key]>;
} & {
  [Key in LooseKeys<T> as T[Key] extends Dropped ? never : Key]?: Json<Exclude<T[Key], Dropped>>;
} extends infer Both
  ? { [Key in keyof Both]: Both[Key] }
  : never;

/** `true` if a value of this type has no JSON form as a whole: a bigint, a symbol, a function, or an object with a bigint. */
type Unstorable<T> = 0 extends 1 & T
  ? false
  : T extends bigint | symbol | ((...args: never[]) => unknown)
    ? true
    : T extends { toJSON(): unknown }
      ? false
      : T extends object
        ? Extract<T[keyof T], bigint> extends never
          ? false
          : true
        : false;

/** Refuses a function whose result cannot be stored. */
export type Returns<Result> =
  true extends Unstorable<Awaited<Result>>
    ? { run: 'expected a result that JSON can hold, got a bigint, a symbol or a function' }
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
