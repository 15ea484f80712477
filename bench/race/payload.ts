/**
 * The inputs of jobs, of an exact size as JSON. Each job has its own: what is alike for all could be encoded or compressed
 * once, which flatters those that do so.
 */

import { randomBytes } from 'node:crypto';
import type { JobInput } from './contender.ts';

export const SMALL_BYTES = 20;
export const LARGE_BYTES = 2_048;

/** The number of a contender's first job. All of a race have seven digits. */
const FIRST = 1_000_000;
const PAD_FIELD = ',"pad":""'.length;
/** Random, so that PostgreSQL cannot make it smaller by compression. */
const TEXT = randomBytes(48 * 1_024).toString('base64');

/** The input of the job with this number, counted from 0. */
export function inputOf(number: number, bytes: number, at = 0): JobInput {
  const input = { at, n: FIRST + number };
  if (bytes === SMALL_BYTES) return input;
  const length = bytes - SMALL_BYTES - PAD_FIELD;
  if (length < 0 || length > TEXT.length / 2) {
    throw new Error(
      `payload: expected ${SMALL_BYTES} or ${SMALL_BYTES + PAD_FIELD}–${TEXT.length / 2} bytes, got ${bytes}`,
    );
  }
  const from = (number * 61) % (TEXT.length - length);
  return { ...input, pad: TEXT.slice(from, from + length) };
}

/** What the inputs of `count` jobs from this number on add up to. */
export function sumOf(from: number, count: number): number {
  return count * (FIRST + from) + (count * (count - 1)) / 2;
}
