/** Members of gangs that restart: what their gang makes of the end of an attempt. */

import type { AttemptEnd } from './attempt-end.ts';
import { countersOf, type Fence, fenceOf } from './fence.ts';
import { type GangRow, restarts } from './gang.ts';
import { isWaiting, type Job } from './job.ts';
import type { Change, JobEvent } from './transition.ts';

type MemberEvent = Extract<JobEvent, { type: 'succeed' | 'stop' | 'finish' | 'leave' }>;

/** Decides about a member of a gang that restarts. */
export function memberChange(job: Job, event: MemberEvent, gang: GangRow | undefined): Change | undefined {
  const fence = fenceOf(job);
  if (event.type === 'leave') return leave(job, fence);
  const { success } = event;
  const { exitCode = null, usage = null } = success ?? {};
  const record: AttemptEnd = { outcome: 'done', exitCode, signal: null, error: null, usage };
  switch (event.type) {
    case 'succeed':
      if (job.status !== 'running') return undefined;
      return stopsWithGang(job, gang) ? stopped(job, fence, record) : { kind: 'hold', fence, success: event.success };
    case 'stop':
      if (job.status === 'running') {
        return job.cancelRequestedAt === null ? { kind: 'flag', fence, gangStop: true } : undefined;
      }
      return job.status === 'blocked' && success !== null ? stopped(job, fence, record) : undefined;
    case 'finish': {
      if (job.status !== 'blocked') return undefined;
      const { result } = event.success;
      return {
        kind: 'end',
        fence,
        counters: countersOf(job),
        status: 'done',
        reason: null,
        record,
        error: null,
        result,
      };
    }
  }
}

/** The member is skipped: its gang did not need it. */
function leave(job: Job, fence: Fence): Change | undefined {
  if (!isWaiting(job.status)) return undefined;
  const error = 'its gang has succeeded without it';
  return { kind: 'end', fence, counters: countersOf(job), status: 'skipped', reason: 'gang', record: null, error };
}

/** The attempt of a member ends so that its gang can start again. What a person has cancelled does not. */
export function stopsWithGang(job: Job, gang: GangRow | undefined): boolean {
  return job.gangStop || (restarts(job) && gang?.stopping === true && job.cancelRequestedAt === null);
}

/** The member waits for its gang to start again, and pays nothing. */
export function stopped(job: Job, fence: Fence, record: AttemptEnd): Change {
  const outcome = record.outcome === 'cancelled' ? 'stopped' : record.outcome;
  return { kind: 'requeue', fence, counters: countersOf(job), delayMs: 0, record: { ...record, outcome } };
}
