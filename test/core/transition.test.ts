import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../../src/core/attempt-end.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { fenceOf } from '../../src/core/fence.ts';
import {
  DEFAULT_SPEC,
  type Job,
  STATUSES,
  type Status,
  TERMINAL_STATUSES,
  WAITING_STATUSES,
} from '../../src/core/job.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { type Change, FREE_INTERRUPTIONS, type JobEvent, transition } from '../../src/core/transition.ts';

type Ending = Exclude<Outcome, { type: 'succeeded' }>;

const FAILED: Ending = { type: 'failed', exitCode: 7, signal: null, error: 'exit 7' };
const SUCCESS = { exitCode: 0, result: null };
const TIMED_OUT: Ending = { type: 'timed_out', exitCode: null, signal: 'SIGTERM', error: 'timed out after 5m' };
const INTERRUPTED: Ending = { type: 'interrupted', error: 'drained' };
const ENDINGS: Ending[] = [
  FAILED,
  TIMED_OUT,
  INTERRUPTED,
  { type: 'snoozed', delayMs: 60_000 },
  { type: 'cancelled', error: 'no longer needed' },
  { type: 'returned' },
];

function aJob(wanted: Partial<Job> = {}): Job {
  return {
    ...DEFAULT_SPEC,
    command: 'true',
    id: 12,
    status: 'running',
    attempt: 4,
    failures: 0,
    interruptions: 0,
    snoozes: 0,
    losses: 0,
    createdAt: 1_000,
    dueAt: 1_000,
    startedAt: 2_000,
    doneAt: null,
    workerId: 3,
    lastHeartbeatAt: 2_000,
    cancelRequestedAt: null,
    gangStop: false,
    expiresAt: null,
    exitCode: null,
    signal: null,
    thrown: null,
    error: null,
    reason: null,
    result: null,
    progress: null,
    checkpoint: null,
    dependsOn: [],
    workflowId: null,
    stepKey: null,
    groupId: null,
    groupIndex: null,
    rerunOf: null,
    uniqueKey: null,
    ...wanted,
  };
}

function decide(wanted: Partial<Job>, event: JobEvent): Change {
  return transition(aJob(wanted), event, 0.5) ?? assert.fail('nothing was decided');
}

function report(outcome: Ending, wanted: Partial<Job> = {}): Change {
  return decide(wanted, { type: 'settle', outcome });
}

function requeued(change: Change) {
  assert.equal(change.kind, 'requeue');
  return change;
}

function ended(change: Change) {
  assert.equal(change.kind, 'end');
  return change;
}

test('transition: which event can happen to which status', () => {
  const events: Record<
    JobEvent['type'],
    { event: JobEvent; happensTo: readonly Status[]; nothing: readonly Status[] }
  > = {
    settle: { event: { type: 'settle', outcome: FAILED }, happensTo: ['running'], nothing: [] },
    lose: { event: { type: 'lose', workerSeenAt: 5 }, happensTo: ['running'], nothing: [] },
    cancel: { event: { type: 'cancel' }, happensTo: [...WAITING_STATUSES, 'running'], nothing: ['cancelled'] },
    expire: {
      event: { type: 'expire' },
      happensTo: ['pending', 'scheduled'],
      nothing: ['blocked', 'running', ...TERMINAL_STATUSES],
    },
    skip: {
      event: { type: 'skip' },
      happensTo: ['pending'],
      nothing: STATUSES.filter((status) => status !== 'pending'),
    },
    succeed: {
      event: { type: 'succeed', success: SUCCESS },
      happensTo: ['running'],
      nothing: STATUSES.filter((status) => status !== 'running'),
    },
    stop: {
      event: { type: 'stop', success: SUCCESS },
      happensTo: ['running', 'blocked'],
      nothing: STATUSES.filter((status) => status !== 'running' && status !== 'blocked'),
    },
    finish: {
      event: { type: 'finish', success: SUCCESS },
      happensTo: ['blocked'],
      nothing: STATUSES.filter((status) => status !== 'blocked'),
    },
    leave: {
      event: { type: 'leave' },
      happensTo: WAITING_STATUSES,
      nothing: ['running', ...TERMINAL_STATUSES],
    },
    retry: { event: { type: 'retry' }, happensTo: ['failed', 'cancelled', 'skipped'], nothing: [] },
  };
  for (const { event, happensTo, nothing } of Object.values(events)) {
    for (const status of STATUSES) {
      const act = () => transition(aJob({ status }), event, 0.5);
      const what = `${event.type} of a ${status} job`;
      if (happensTo.includes(status)) assert.equal(act()?.fence.status, status, what);
      else if (nothing.includes(status)) assert.equal(act(), undefined, what);
      else assert.throws(act, (error) => isWorkronError(error, 'illegal_transition'), what);
    }
  }
});

test('transition: the fence holds every field that the decision used', () => {
  const wanted = { failures: 1, interruptions: 2, snoozes: 3, losses: 1, cancelRequestedAt: 9 };
  const counters = { failures: 1, interruptions: 2, snoozes: 3, losses: 1 };
  const fence = {
    jobId: 12,
    status: 'running',
    attempt: 4,
    workerId: 3,
    cancelRequested: true,
    gangStop: false,
    counters,
  };
  assert.deepEqual(report(FAILED, wanted).fence, fence);
  assert.deepEqual(decide(wanted, { type: 'lose', workerSeenAt: 77 }).fence, { ...fence, workerSeenAt: 77 });
  assert.equal(fenceOf(aJob({ status: 'scheduled' })).workerId, null, 'the last worker has no say any more');
  assert.equal(fenceOf(aJob()).cancelRequested, false);
});

test('failure: costs one of the budget and waits for its backoff', () => {
  const change = requeued(report(FAILED, { failures: 1, snoozes: 2 }));
  assert.deepEqual(change.counters, { failures: 2, interruptions: 0, snoozes: 2, losses: 0 });
  assert.equal(change.delayMs, 10_000);
  assert.deepEqual(change.record, { outcome: 'failed', exitCode: 7, signal: null, error: 'exit 7' });
});

test('failure: the last one of the budget ends the job', () => {
  const change = ended(report(FAILED, { failures: 2 }));
  assert.deepEqual([change.status, change.reason, change.error], ['failed', 'exit', 'exit 7']);
  assert.equal(change.counters.failures, 3);
  assert.equal(ended(report(FAILED, { maxAttempts: 1 })).status, 'failed');
  assert.equal(ended(report({ ...FAILED, exitCode: null, signal: 'SIGKILL' }, { failures: 2 })).reason, 'signal');
});

test('failure: a job’s own wish for when to try again goes before the backoff', () => {
  assert.equal(requeued(report({ ...FAILED, retryAfterMs: 123 })).delayMs, 123);
  assert.equal(requeued(report({ ...FAILED, retryAfterMs: 0 })).delayMs, 0);
  assert.equal(report({ ...FAILED, retryAfterMs: 123 }, { failures: 2 }).kind, 'end');
});

test('failure: a fatal one is never tried again', () => {
  const change = ended(report({ ...FAILED, fatal: true }));
  assert.deepEqual([change.status, change.reason, change.counters.failures], ['failed', 'fatal', 1]);
});

test('failure: retry_on and no_retry_on say which exit codes are tried again', () => {
  const kind = (wanted: Partial<Job>, exitCode: number | null) => report({ ...FAILED, exitCode }, wanted).kind;
  assert.equal(kind({ retryOn: [7, 8] }, 7), 'requeue');
  assert.equal(kind({ retryOn: [7, 8] }, 9), 'end');
  assert.equal(kind({ retryOn: [] }, 7), 'end');
  assert.equal(kind({ noRetryOn: [7] }, 7), 'end');
  assert.equal(kind({ noRetryOn: [7] }, 8), 'requeue');
  assert.equal(kind({ retryOn: [7], noRetryOn: [7] }, 7), 'end');
  const killed: Outcome = { ...FAILED, exitCode: null, signal: 'SIGKILL' };
  assert.equal(report(killed, { noRetryOn: [7] }).kind, 'requeue', 'a signal has no exit code');
  assert.equal(report(killed, { retryOn: [7] }).kind, 'end', 'only these exit codes: not a signal');
  assert.equal(kind({ retryOn: [7] }, null), 'requeue', 'it could not be started, or its worker failed');
  assert.equal(kind({ retryOn: [7], command: null, handler: 'h' }, null), 'requeue', 'a handler has no exit codes');
  const change = ended(report({ ...FAILED, exitCode: 9 }, { retryOn: [7] }));
  assert.deepEqual([change.status, change.reason, change.counters.failures], ['failed', 'exit', 1]);
});

test('timeout: costs one of the budget like a failure', () => {
  const change = requeued(report(TIMED_OUT));
  assert.deepEqual([change.counters.failures, change.delayMs, change.record.outcome], [1, 5_000, 'timeout']);
  assert.equal(requeued(report(TIMED_OUT, { noRetryOn: [1] })).kind, 'requeue', 'it has no exit code');
  assert.equal(ended(report(TIMED_OUT, { retryOn: [75] })).reason, 'timeout', 'only these exit codes: not a timeout');
  const last = ended(report(TIMED_OUT, { failures: 2 }));
  assert.deepEqual([last.status, last.reason, last.error], ['failed', 'timeout', 'timed out after 5m']);
});

test('loss: the first goes back at once, later ones with backoff, each costs one of the budget', () => {
  const lose = (wanted: Partial<Job>) => decide(wanted, { type: 'lose', workerSeenAt: 5 });
  const first = requeued(lose({ failures: 1 }));
  assert.deepEqual([first.delayMs, first.counters.failures, first.counters.losses], [0, 2, 1]);
  assert.equal(first.record.outcome, 'lost');
  const second = requeued(lose({ failures: 1, losses: 1 }));
  assert.deepEqual([second.delayMs, second.counters.failures, second.counters.losses], [10_000, 2, 2]);
  const last = ended(lose({ failures: 2 }));
  assert.deepEqual([last.status, last.reason, last.counters.failures], ['failed', 'lost', 3]);
});

test('interruption: costs nothing and goes back at once, until there are too many', () => {
  for (let before = 0; before < FREE_INTERRUPTIONS; before += 1) {
    const change = requeued(report(INTERRUPTED, { interruptions: before, failures: 2 }));
    assert.deepEqual([change.delayMs, change.counters.interruptions, change.counters.failures], [0, before + 1, 2]);
  }
  const eleventh = requeued(report(INTERRUPTED, { interruptions: 10 }));
  assert.deepEqual([eleventh.counters.interruptions, eleventh.counters.failures, eleventh.delayMs], [11, 1, 5_000]);
  const last = ended(report(INTERRUPTED, { interruptions: 12, failures: 2 }));
  assert.deepEqual([last.status, last.reason, last.counters.failures], ['failed', 'interrupted', 3]);
});

test('snooze: costs nothing, however often, and never keeps its place', () => {
  const change = requeued(report({ type: 'snoozed', delayMs: 60_000 }, { snoozes: 5_000, failures: 2 }));
  assert.deepEqual([change.delayMs, change.counters.snoozes, change.counters.failures], [60_000, 5_001, 2]);
  assert.ok(requeued(report({ type: 'snoozed', delayMs: 0 })).delayMs > 0);
});

test('returned: a claim that was never started changes no counter', () => {
  const change = requeued(report({ type: 'returned' }, { failures: 2, rerun: 'never' }));
  assert.deepEqual([change.delayMs, change.record.outcome], [0, 'returned']);
  assert.deepEqual(change.counters, { failures: 2, interruptions: 0, snoozes: 0, losses: 0 });
});

test('rerun never: once started, nothing but a person starts it again', () => {
  const lost = ended(decide({ rerun: 'never' }, { type: 'lose', workerSeenAt: 5 }));
  assert.deepEqual([lost.status, lost.reason], ['failed', 'lost']);
  const reasons = [FAILED, TIMED_OUT, INTERRUPTED, { type: 'snoozed', delayMs: 1 } as Ending].map((outcome) => {
    const { status, reason } = ended(report(outcome, { rerun: 'never' }));
    return [status, reason];
  });
  assert.deepEqual(reasons, [
    ['failed', 'exit'],
    ['failed', 'timeout'],
    ['failed', 'interrupted'],
    ['failed', 'interrupted'],
  ]);
  assert.equal(report({ ...FAILED, retryAfterMs: 5 }, { rerun: 'never' }).kind, 'end');
  assert.equal(decide({ rerun: 'never', status: 'failed' }, { type: 'retry' }).kind, 'reopen');
});

test('cancel: what waits is cancelled at once, with no attempt on record', () => {
  for (const status of WAITING_STATUSES) {
    const change = ended(decide({ status, failures: 1 }, { type: 'cancel' }));
    assert.deepEqual(
      [change.status, change.reason, change.record, change.error],
      ['cancelled', 'cancelled', null, null],
    );
    assert.equal(change.counters.failures, 1);
  }
});

test('cancel: what runs is asked to stop, once', () => {
  assert.equal(decide({}, { type: 'cancel' }).kind, 'flag');
  assert.equal(transition(aJob({ cancelRequestedAt: 5 }), { type: 'cancel' }, 0.5), undefined);
});

test('cancel: once asked for, every end but success is a cancellation that costs nothing', () => {
  const asked = { cancelRequestedAt: 5, failures: 2, interruptions: 10 };
  const changes = [
    ...ENDINGS.map((outcome) => report(outcome, asked)),
    decide(asked, { type: 'lose', workerSeenAt: 5 }),
  ].map(ended);
  for (const change of changes) {
    assert.deepEqual([change.status, change.reason, change.record?.outcome], ['cancelled', 'cancelled', 'cancelled']);
    assert.deepEqual(change.counters, { failures: 2, interruptions: 10, snoozes: 0, losses: 0 });
  }
  assert.equal(changes[0]?.record?.exitCode, 7, 'how the command ended is still on record');
});

test('cancel: a job may cancel itself', () => {
  const change = ended(report({ type: 'cancelled', error: 'no longer needed' }, { rerun: 'never' }));
  assert.deepEqual([change.status, change.error], ['cancelled', 'no longer needed']);
});

test('expire: a job that was not started in time fails, and says what would help', () => {
  const change = ended(decide({ status: 'pending' }, { type: 'expire' }));
  assert.deepEqual([change.status, change.reason, change.record], ['failed', 'expired', null]);
  assert.match(change.error ?? '', /start_timeout/);
});

test('retry: a full budget, the other counters kept', () => {
  const change = decide({ status: 'failed', failures: 3, losses: 2, snoozes: 1, interruptions: 4 }, { type: 'retry' });
  assert.equal(change.kind, 'reopen');
  assert.deepEqual(change.counters, {
    failures: 0,
    losses: 0,
    snoozes: 1,
    interruptions: 4,
  });
});

test('record: says how the attempt went, whatever becomes of the job', () => {
  assert.deepEqual(
    [{ type: 'succeeded', exitCode: 0 } as Outcome, ...ENDINGS].map((outcome) => recordOf(outcome).outcome),
    ['done', 'failed', 'timeout', 'interrupted', 'snoozed', 'cancelled', 'returned'],
  );
  assert.deepEqual(recordOf(TIMED_OUT), {
    outcome: 'timeout',
    exitCode: null,
    signal: 'SIGTERM',
    error: 'timed out after 5m',
  });
});
