/** Compares specs, so that what is equal is stored and sent once. */

import type { JobSpec } from './job.ts';

/**
 * True if two specs differ in their inputs at most, sealed or not. Specs are never changed, so the same object has the same content.
 * Written out, because a loop over names takes several times as long and every job of a batch is compared.
 */
export function sameButInput(a: JobSpec, b: JobSpec): boolean {
  return (
    a.name === b.name &&
    a.queue === b.queue &&
    a.priority === b.priority &&
    a.command === b.command &&
    a.handler === b.handler &&
    a.sealInput === b.sealInput &&
    a.maxAttempts === b.maxAttempts &&
    a.backoff === b.backoff &&
    a.retryOn === b.retryOn &&
    a.noRetryOn === b.noRetryOn &&
    a.timeoutMs === b.timeoutMs &&
    a.startTimeoutMs === b.startTimeoutMs &&
    a.killGraceMs === b.killGraceMs &&
    a.rerun === b.rerun &&
    a.onDisconnect === b.onDisconnect &&
    a.env === b.env &&
    a.cwd === b.cwd &&
    a.tags === b.tags &&
    a.requires === b.requires &&
    a.resources === b.resources &&
    a.fairKey === b.fairKey &&
    a.limits === b.limits &&
    a.rates === b.rates &&
    a.onLimit === b.onLimit &&
    a.gang === b.gang &&
    a.continueOnFailure === b.continueOnFailure &&
    a.notify === b.notify &&
    a.tick === b.tick &&
    a.submittedBy === b.submittedBy
  );
}
