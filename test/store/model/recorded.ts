/** Recorded sequences of the model test: their actions, and what the store answered to each. */

import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import type { Action } from './action.ts';

const FILE = new URL('./recorded.json.br', import.meta.url);
const DIGEST_BYTES = 4;
const WINDOW_BITS = 24;

export interface Recording {
  /** The properties that the answers had. Those that came later are not compared. */
  properties: string[];
  sequences: RecordedSequence[];
}

export interface RecordedSequence {
  actions: Action[];
  /** What the store answered; as digests for most of the sequences. */
  trace: unknown[] | string;
}

export function readRecording(): Recording {
  return JSON.parse(brotliDecompressSync(readFileSync(FILE)).toString()) as Recording;
}

export function writeRecording(recording: Recording): void {
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
  };
  writeFileSync(FILE, brotliCompressSync(JSON.stringify(recording), { params }));
}

/** The entries of a trace, each as a short digest, one after the other. */
export function digestsOf(trace: readonly unknown[]): string {
  const digests = trace.map((entry) => hash('sha1', JSON.stringify(entry), 'buffer').subarray(0, DIGEST_BYTES));
  return Buffer.concat(digests).toString('base64');
}

/** The first entry at which a trace differs from its digests. */
export function firstDifference(trace: readonly unknown[], digests: string): number | undefined {
  const [found, expected] = [digestsOf(trace), digests].map((text) => Buffer.from(text, 'base64')) as [Buffer, Buffer];
  const place = found.findIndex((byte, index) => byte !== expected[index]);
  return place === -1 ? undefined : Math.floor(place / DIGEST_BYTES);
}

/** A trace with these properties only, in alphabetical order. */
export function comparable<T>(trace: T, properties: ReadonlySet<string>): T {
  const text = JSON.stringify(trace, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const kept = Object.entries(value).filter(([name]) => properties.has(name));
    return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return JSON.parse(text) as T;
}

/** Adds the names of all properties in `value`. */
export function gatherProperties(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (!Array.isArray(value)) into.add(name);
    gatherProperties(part, into);
  }
}
