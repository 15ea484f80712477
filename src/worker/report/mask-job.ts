/** Masks the secrets of a job in what its worker reports. */

import { progressFrom } from '../../api/report.ts';
import type { ClaimedJob, Progress } from '../../core/job.ts';
import { MaskStream, maskJson, maskText } from '../../core/mask.ts';
import type { Outcome, Thrown } from '../../core/outcome.ts';
import { cutError, cutThrown } from '../run/thrown.ts';

function secretsOf({ env, secretEnv = [] }: ClaimedJob): string[] {
  return secretEnv.flatMap((variable) => {
    const value = env[variable];
    return typeof value === 'string' ? [value] : [];
  });
}

/** `null` for a job without secrets. */
export function maskOf(job: ClaimedJob): MaskStream | null {
  return job.secretEnv === undefined ? null : new MaskStream(secretsOf(job));
}

/** Masks the secrets of a job in a text. */
export function maskerOf(job: ClaimedJob): (text: string) => string {
  const values = secretsOf(job);
  return values.length === 0 ? (text) => text : (text) => maskText(text, values);
}

/** Masks secrets in what was thrown, and cuts it. */
export function maskThrown(job: ClaimedJob, thrown: Thrown): Thrown {
  const values = secretsOf(job);
  return cutThrown(values.length === 0 ? thrown : (maskJson(thrown, values) as Thrown));
}

/** Masks secrets in errors, and cuts them. A result keeps its secrets: children get the true value. */
export function maskOutcome(job: ClaimedJob, outcome: Outcome): Outcome {
  const { error, thrown } = outcome as { error?: string | null; thrown?: Thrown };
  if (typeof error !== 'string' && thrown === undefined) return outcome;
  return {
    ...outcome,
    ...(typeof error === 'string' && { error: cutError(maskerOf(job)(error)) }),
    ...(thrown !== undefined && { thrown: maskThrown(job, thrown) }),
  };
}

/** Masks secrets in what readers see of a running attempt, and cuts it. */
export function maskProgress(job: ClaimedJob, { fraction, text }: Progress): Progress {
  return progressFrom(fraction, text === null ? null : maskerOf(job)(text));
}
