/** What has happened to a job, from what is stored about it. */

import type { Attempt } from './attempt-end.ts';
import { type AuditEntry, subjectOf } from './audit.ts';
import { failureLine } from './failure-line.ts';
import { isTerminal, type Job } from './job.ts';

export const HISTORY_EVENTS = [
  'submitted',
  'changed',
  'parent_ended',
  'started',
  'cancel_requested',
  'attempt_ended',
  'ended',
] as const;

export interface HistoryEntry {
  at: number;
  event: (typeof HISTORY_EVENTS)[number];
  /** One phrase for people. */
  text: string;
  /** `null` where it is not about an attempt. */
  attempt: number | null;
  workerId: number | null;
  /** The parent that ended; `null` for other events. */
  parentId: number | null;
  /** Who submitted or changed it; `null` if that is not known, and for other events. */
  by: string | null;
}

/** The number of parents whose ends are listed. */
export const MAX_HISTORY_PARENTS = 1_000;

/** The number of changes by people that are listed. */
export const MAX_HISTORY_CHANGES = 200;

/** The decisions that change a job, or all jobs of its workflow, in the words of its history. */
const CHANGES: Readonly<Record<string, string>> = {
  'job.cancel': 'cancelled',
  'job.retry': 'retried',
  'job.rerun': 'rerun',
  'job.edit': 'edited',
  'workflow.cancel': 'workflow cancelled',
  'workflow.retry': 'workflow retried',
  'workflow.rerun': 'workflow rerun',
};

/** The subjects whose entries in the audit belong to the history of a job. */
export function historySubjects({ id, workflowId }: Pick<Job, 'id' | 'workflowId'>): string[] {
  const own = subjectOf('job', id);
  return workflowId === null ? [own] : [own, subjectOf('workflow', workflowId)];
}

interface Sources {
  attempts: readonly Attempt[];
  /** May lack jobs that were deleted, and those beyond the limit. */
  parents: readonly Job[];
  /** Entries of the audit. */
  audit: readonly AuditEntry[];
}

/** The history, oldest first. */
export function historyOf(job: Job, { attempts, parents, audit }: Sources): HistoryEntry[] {
  const more = job.dependsOn.length - MAX_HISTORY_PARENTS;
  const unlisted = more > 0 ? `; the ends of ${more} parents are not listed` : '';
  const submission = { ...entry('submitted', job.createdAt, submissionText(job) + unlisted), by: job.submittedBy };
  const entries: HistoryEntry[] = [submission, ...changesIn(audit)];
  for (const { id, status, reason, doneAt } of parents) {
    if (!isTerminal(status) || doneAt === null) continue;
    entries.push({ ...entry('parent_ended', doneAt, `job ${id} ended: ${withReason(status, reason)}`), parentId: id });
  }
  for (const attempt of attempts) {
    const about = { attempt: attempt.attempt, workerId: attempt.workerId };
    if (attempt.outcome !== 'returned') {
      entries.push({ ...entry('started', attempt.startedAt, startText(attempt)), ...about });
    }
    entries.push({ ...entry('attempt_ended', attempt.endedAt, endText(attempt)), ...about });
  }
  if (job.status === 'running' && job.startedAt !== null) {
    const { attempt, workerId } = job;
    entries.push({ ...entry('started', job.startedAt, startText(job)), attempt, workerId });
  }
  if (job.cancelRequestedAt !== null) {
    entries.push(entry('cancel_requested', job.cancelRequestedAt, 'asked to stop'));
  }
  if (isTerminal(job.status) && job.doneAt !== null) {
    entries.push(entry('ended', job.doneAt, withReason(job.status, job.reason)));
  }
  // Events of the same instant are put in the only order in which they can have happened.
  const rank = ({ event }: HistoryEntry) => HISTORY_EVENTS.indexOf(event);
  const attemptOf = ({ event, attempt }: HistoryEntry) => (event === 'cancel_requested' ? job.attempt : (attempt ?? 0));
  return entries.sort((a, b) => a.at - b.at || attemptOf(a) - attemptOf(b) || rank(a) - rank(b)).sort(endLast);
}

function entry(event: HistoryEntry['event'], at: number, text: string): HistoryEntry {
  return { at, event, text, attempt: null, workerId: null, parentId: null, by: null };
}

/** Changes that were made, and those whose result is not known. */
function changesIn(audit: readonly AuditEntry[]): HistoryEntry[] {
  return audit.flatMap(({ at, action, actor, result, details }) => {
    const what = CHANGES[action];
    if (what === undefined || (result !== null && result !== 'ok')) return [];
    const as = details?.made === undefined ? '' : ` as ${details.made}`;
    const unknown = result === null ? ' (result unknown)' : '';
    return [{ ...entry('changed', at, `${what}${as} by ${actor}${unknown}`), by: actor }];
  });
}

/** A clock that was set back does not put anything after the end, or before the submission. */
function endLast(a: HistoryEntry, b: HistoryEntry): number {
  const place = ({ event }: HistoryEntry) => (event === 'submitted' ? 0 : event === 'ended' ? 2 : 1);
  return place(a) - place(b);
}

function submissionText({ queue, tick, rerunOf, workflowId, stepKey, submittedBy }: Job): string {
  const from =
    tick !== null
      ? ` by schedule ${tick.schedule} for ${new Date(tick.scheduledFor).toISOString()}`
      : rerunOf !== null
        ? ` as a rerun of job ${rerunOf}`
        : workflowId !== null
          ? ` as step ${stepKey} of workflow ${workflowId}`
          : '';
  return `submitted to queue ${queue}${from}${submittedBy === null ? '' : `, by ${submittedBy}`}`;
}

function startText({ attempt, workerId }: { attempt: number; workerId: number | null }): string {
  return workerId === null ? 'started' : `attempt ${attempt} started on worker ${workerId}`;
}

function endText({ attempt, outcome, exitCode, signal, error }: Attempt): string {
  const line = failureLine(error ?? '');
  const how = line !== '' ? line : signal !== null ? signal : exitCode !== null ? `exit ${exitCode}` : '';
  return `attempt ${attempt} ended: ${outcome}${how === '' ? '' : ` (${how})`}`;
}

function withReason(status: string, reason: string | null): string {
  return reason === null ? status : `${status} (${reason})`;
}
