/** Copies what goes in and what comes out, so that callers cannot change the store's objects. */

import type { JobSpec } from '../../../core/job.ts';

/** Copies a spec, or the spec's properties of an object that has them. */
export function copySpec(spec: JobSpec): JobSpec {
  return {
    name: spec.name,
    queue: spec.queue,
    priority: spec.priority,
    command: spec.command,
    handler: spec.handler,
    input: copyJson(spec.input),
    sealInput: spec.sealInput,
    sealedInput: spec.sealedInput,
    maxAttempts: spec.maxAttempts,
    backoff: { ...spec.backoff },
    retryOn: spec.retryOn === null ? null : [...spec.retryOn],
    noRetryOn: spec.noRetryOn === null ? null : [...spec.noRetryOn],
    timeoutMs: spec.timeoutMs,
    startTimeoutMs: spec.startTimeoutMs,
    killGraceMs: spec.killGraceMs,
    rerun: spec.rerun,
    onDisconnect: spec.onDisconnect,
    env: { ...spec.env },
    cwd: spec.cwd,
    tags: [...spec.tags],
    requires: [...spec.requires],
    resources: { ...spec.resources },
    fairKey: spec.fairKey,
    limits: spec.limits.length === 0 ? [] : copyJson(spec.limits),
    rates: spec.rates.length === 0 ? [] : copyJson(spec.rates),
    onLimit: spec.onLimit,
    gang: spec.gang === null ? null : { ...spec.gang },
    continueOnFailure: spec.continueOnFailure,
    notify: spec.notify.length === 0 ? [] : copyJson(spec.notify),
    tick: copyJson(spec.tick),
    submittedBy: spec.submittedBy,
  };
}

export function copyJson<T>(value: T): T {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}
