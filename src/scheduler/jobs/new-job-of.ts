import { gangTag } from '../../core/gang.ts';
import type { Job, NewJob } from '../../core/job.ts';

/** The job as it was submitted, to run it again: at once, without parents and without its unique key. */
export function newJobOf(job: Job, submittedBy: string | null): NewJob {
  const { name, queue, priority, command, handler, input, maxAttempts, backoff, retryOn, noRetryOn, timeoutMs } = job;
  const {
    sealInput,
    sealedInput,
    startTimeoutMs,
    killGraceMs,
    rerun,
    onDisconnect,
    env,
    cwd,
    requires,
    resources,
    fairKey,
  } = job;
  // A rerun of a member is a job of its own.
  const tags = job.gang === null ? job.tags : job.tags.filter((tag) => tag !== gangTag(job.gang?.id ?? ''));
  const what = { name, queue, priority, command, handler, input, maxAttempts, backoff, retryOn, noRetryOn, timeoutMs };
  const how = { startTimeoutMs, killGraceMs, rerun, onDisconnect, env, cwd, tags, requires, resources, fairKey };
  const sealed = { sealInput, sealedInput };
  const { limits, rates, onLimit, continueOnFailure, notify, tick } = job;
  const around = { limits, rates, onLimit, gang: null, continueOnFailure, notify, tick, submittedBy };
  return { ...what, ...sealed, ...how, ...around, runAt: null, delayMs: null, unique: null, dependsOn: [] };
}
