/** The one statement that stores a batch of jobs, and what is told of them afterwards. */

import { mayWait } from '../../core/claim-ahead.ts';
import type { Job, NewJob } from '../../core/job.ts';
import { encodeSpec } from '../spec.ts';
import type { Context } from './context.ts';
import type { Session } from './database.ts';
import { FLAG, watchFlags } from './flags.ts';
import { numbers, texts } from './values.ts';

/** Jobs per statement: beyond it, several in one transaction. */
export const PIECE = 5_000;

/** Stores jobs whatever their keys; answers with them, in order. They have no turns yet: see `giveTurnsTo`. */
export async function insertRows(
  { sql, fairQueues }: Context,
  session: Session,
  jobs: readonly NewJob[],
  lanes: readonly number[],
): Promise<Job[]> {
  const stored: Job[] = [];
  for (let start = 0; start < jobs.length; start += PIECE) {
    const piece = jobs.slice(start, start + PIECE);
    const values = [...columnsOf(piece, lanes.slice(start, start + PIECE)), numbers(piece.map(ownFlags))];
    const [row] = await session.query<{ ids: number[]; now: number; fair: string[] | null }>(sql.insertJobs, values);
    if (row === undefined) throw new Error('an insert answered with nothing');
    if (row.fair !== null) fairQueues.learn(row.fair);
    piece.forEach((job, place) => stored.push(newlyStored(job, row.ids[place] as number, row.now)));
  }
  return stored;
}

/** Tells who waits that there is something new. */
export function announce({ hints }: Context, stored: readonly Job[]): void {
  const scheduled = stored.filter(({ status }) => status === 'scheduled');
  hints.tell({
    work: stored.some(({ status }) => status === 'pending'),
    jobs: stored.slice(0, 1_000).map(({ id }) => id),
    dueAt: scheduled.length === 0 ? null : scheduled.reduce((min, { dueAt }) => Math.min(min, dueAt), Infinity),
  });
}

/** What every new job has, in the order of the statements. */
export function columnsOf(jobs: readonly NewJob[], lanes: readonly number[]): unknown[] {
  const specs = jobs.map(encodeSpec);
  return [
    texts(specs.map(({ queue }) => queue)),
    texts(specs.map(({ kind }) => kind)),
    texts(specs.map(({ name }) => name)),
    numbers(specs.map(({ priority }) => priority)),
    texts(specs.map(({ tags }) => (tags.length === 0 ? null : texts(tags)))),
    texts(
      specs.map(({ spec }, place) => {
        const unique = jobs[place]?.unique;
        return JSON.stringify(unique == null ? spec : { ...spec, unique_key: unique.key });
      }),
    ),
    numbers(lanes),
    numbers(jobs.map(({ runAt }) => runAt)),
    numbers(jobs.map(({ delayMs }) => delayMs)),
    numbers(jobs.map(({ startTimeoutMs }) => startTimeoutMs)),
  ];
}

/** Those flags that follow from the job alone. */
export function ownFlags(job: Pick<NewJob, 'unique' | 'notify' | 'rerun' | 'maxAttempts'>): number {
  const { unique, notify } = job;
  const keyFlag = unique === null || typeof unique.while === 'number' ? 0 : FLAG.holdsKey;
  return keyFlag | watchFlags(notify) | (mayWait(job) ? 0 : FLAG.startsAtOnce);
}

function newlyStored(asked: NewJob, id: number, now: number): Job {
  const { runAt, delayMs, unique: _, ...spec } = asked;
  const dueAt = Math.max(now, runAt ?? now + (delayMs ?? 0));
  return {
    ...spec,
    id,
    status: dueAt > now ? 'scheduled' : 'pending',
    attempt: 0,
    failures: 0,
    interruptions: 0,
    snoozes: 0,
    losses: 0,
    createdAt: now,
    dueAt,
    startedAt: null,
    doneAt: null,
    workerId: null,
    lastHeartbeatAt: null,
    cancelRequestedAt: null,
    expiresAt: spec.startTimeoutMs === null ? null : dueAt + spec.startTimeoutMs,
    exitCode: null,
    signal: null,
    error: null,
    reason: null,
    result: null,
    progress: null,
    workflowId: null,
    stepKey: null,
    groupId: null,
    groupIndex: null,
    rerunOf: null,
  };
}
