import type { ClaimedJob, Progress } from '../../core/job.ts';
import type { Outcome } from '../../core/outcome.ts';
import { MASK, MIN_SECRET_LENGTH, maskJson, maskText } from '../../core/secret.ts';

function secretsOf({ env, secretEnv = [] }: ClaimedJob): string[] {
  return secretEnv.flatMap((variable) => {
    const value = env[variable];
    if (typeof value !== 'string' || value === '') return [];
    return value.trim().length < MIN_SECRET_LENGTH ? [value] : [value, value.trim()];
  });
}

/** `null` for a job without secrets. */
export function maskOf(job: ClaimedJob): MaskStream | null {
  return job.secretEnv === undefined ? null : new MaskStream(secretsOf(job));
}

/** Masks secrets in errors. A result keeps them: children get the true value. */
export function maskOutcome(job: ClaimedJob, outcome: Outcome): Outcome {
  if (job.secretEnv === undefined) return outcome;
  const values = secretsOf(job);
  const { error, thrown } = outcome as { error?: string | null; thrown?: unknown };
  return {
    ...outcome,
    ...(typeof error === 'string' && { error: maskText(error, values) }),
    ...(thrown !== undefined && { thrown: maskJson(thrown, values) }),
  } as Outcome;
}

/** Masks secrets in what readers see of a running attempt. */
export function maskProgress(job: ClaimedJob, { fraction, text }: Progress): Progress {
  const values = text === null || job.secretEnv === undefined ? [] : secretsOf(job);
  return { fraction, text: text === null ? null : maskText(text, values) };
}

/** Replaces values in bytes that arrive in chunks, wherever the chunks are cut. */
export class MaskStream {
  /** Longer ones first, so that a value that contains another is replaced as a whole. */
  readonly #values: Buffer[];
  #held: Buffer = Buffer.alloc(0);

  constructor(values: readonly string[]) {
    this.#values = [...new Set(values)].map((value) => Buffer.from(value)).sort((a, b) => b.length - a.length);
  }

  /** Returns what can be written. The beginning of a value is held back until it is clear whether the rest follows. */
  push(chunk: Buffer): Buffer {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const parts: Buffer[] = [];
    let at = 0;
    for (let found = this.#next(bytes, at); found !== undefined; found = this.#next(bytes, at)) {
      parts.push(bytes.subarray(at, found.start), Buffer.from(MASK));
      at = found.end;
    }
    const rest = bytes.subarray(at);
    const held = this.#beginning(rest);
    // The chunk is valid only during the call.
    this.#held = Buffer.from(rest.subarray(rest.length - held));
    parts.push(rest.subarray(0, rest.length - held));
    return Buffer.concat(parts);
  }

  /** Returns what was held back. */
  end(): Buffer {
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return held;
  }

  #next(bytes: Buffer, from: number): { start: number; end: number } | undefined {
    let first: { start: number; end: number } | undefined;
    for (const value of this.#values) {
      const start = bytes.indexOf(value, from);
      if (start !== -1 && (first === undefined || start < first.start)) first = { start, end: start + value.length };
    }
    return first;
  }

  /** The length of the longest end of the bytes with which a value begins. */
  #beginning(bytes: Buffer): number {
    let longest = 0;
    for (const value of this.#values) {
      for (let length = Math.min(value.length - 1, bytes.length); length > longest; length -= 1) {
        if (bytes.subarray(bytes.length - length).equals(value.subarray(0, length))) longest = length;
      }
    }
    return longest;
  }
}
