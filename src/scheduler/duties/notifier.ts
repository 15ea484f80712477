/**
 * The duty that turns notices into notifications. A notice is written in the transaction of its event and deleted in
 * the one that stores its notifications, so each notification is stored exactly once. A notice that fails is postponed,
 * with a delay that doubles each time, and does not hold up the others.
 */

import { retryDelay } from '../../core/backoff.ts';
import type { Workflow } from '../../core/dag/workflow.ts';
import { isWorkronError } from '../../core/error.ts';
import type { Job } from '../../core/job.ts';
import type { Delivery, Notice } from '../../core/notice.ts';
import type { Notify, NotifyEvent } from '../../core/notify.ts';
import { tickTargetsOf } from '../../core/schedule/tick-notices.ts';
import type { Loop } from '../../ops/loop.ts';
import type { SchedulerContext } from '../context.ts';
import { messageJob, payloadOf, tookMs } from '../notify/message.ts';
import { resolveTargets } from '../notify/targets.ts';
import { sealJob } from '../secrets/sealing.ts';

const BATCH = 100;
const NOTHING: Delivery = { alarm: null, messages: [] };

export function notifier(context: SchedulerContext): Loop {
  return {
    name: 'notifier',
    everyMs: 1_000,
    async tick(signal) {
      const notices = await context.store.notices(BATCH, signal);
      for (const notice of notices) {
        try {
          await deliver(context, notice, signal);
        } catch (error) {
          if (signal.aborted || isWorkronError(error, 'leadership_lost')) throw error;
          if (isWorkronError(error) && error.retryable) throw error;
          await postpone(context, notice, error, signal);
        }
      }
      return notices.length === BATCH ? 0 : undefined;
    },
  };
}

async function deliver(context: SchedulerContext, notice: Notice, signal: AbortSignal): Promise<void> {
  const { store, telemetry, sealing } = context;
  const { alarm, messages } = await deliveryOf(context, notice, signal);
  const seal = await sealing.seal();
  const sealed = messages.map(({ event, job }) => ({ event, job: sealJob(job, seal) }));
  const jobs = await store.deliver(notice.id, { alarm, messages: sealed }, signal);
  if (jobs !== undefined) telemetry.submitted(jobs.map((job) => ({ job, deduplicated: false })));
}

async function postpone({ store, log }: SchedulerContext, notice: Notice, error: unknown, signal: AbortSignal) {
  const retryInMs = retryDelay((await store.now(signal)) - notice.dueAt);
  await store.postponeNotice(notice.id, retryInMs, signal);
  const { id, jobId, workflowId, schedule } = notice;
  const about = { notice: id, job_id: jobId, workflow_id: workflowId, schedule };
  log.error({ ...about, error, retry_in_ms: retryInMs }, 'could not deliver a notice; postponed');
}

/** Decides by the current state: retention may have deleted the job, and a late run may have started in time. */
async function deliveryOf(context: SchedulerContext, notice: Notice, signal: AbortSignal): Promise<Delivery> {
  const { store } = context;
  const [job = null] = notice.jobId === null ? [] : await store.read([notice.jobId], signal);
  const workflow = notice.workflowId === null ? null : ((await store.workflow(notice.workflowId, signal)) ?? null);
  const subject = { notice, job, workflow };
  switch (notice.kind) {
    case 'ended': {
      const list = job?.notify ?? workflow?.notify ?? [];
      if (job === null && workflow === null) return NOTHING;
      const events = eventsOfEnd(notice);
      return {
        alarm: alarmOf(subject, list),
        messages: events.flatMap((event) => messages(context, { ...subject, event, list })),
      };
    }
    case 'late': {
      if ((job === null && workflow === null) || (await startedInTime(context, subject, signal))) return NOTHING;
      const lateAfter = notice.detail['late_after'];
      const list = (job?.notify ?? workflow?.notify ?? []).filter(({ lateAfterMs }) => lateAfterMs === lateAfter);
      return { alarm: null, messages: messages(context, { ...subject, event: 'late', list }) };
    }
    case 'missed': {
      const schedule = await store.schedule(notice.schedule ?? '', signal);
      if (schedule === undefined) return NOTHING;
      const list = tickTargetsOf(schedule, context.notify.list);
      return { alarm: null, messages: messages(context, { ...subject, event: 'missed', list }) };
    }
  }
}

async function startedInTime(
  { store }: SchedulerContext,
  { notice, job, workflow }: Subject,
  signal: AbortSignal,
): Promise<boolean> {
  // The job's own start is that of its latest attempt.
  const first = job !== null && job.attempt > 1 ? (await store.attempts(job.id, signal))[0] : undefined;
  const startedAt = first?.startedAt ?? job?.startedAt ?? workflow?.startedAt ?? null;
  const ended = job === null ? workflow?.endedAt : job.doneAt;
  return startedAt === null ? ended != null && ended <= notice.dueAt : startedAt <= notice.dueAt;
}

/** The events that an end may be. Whether a success is a recovery, the alarm decides; whether a run was slow, its target. */
function eventsOfEnd({ status }: Notice): readonly NotifyEvent[] {
  if (status === 'cancelled') return ['cancelled'];
  return status === 'done' ? ['recovered', 'done', 'slow'] : ['failed', 'slow'];
}

function isSlow({ job, workflow }: Omit<Subject, 'notice'>, slowAfterMs: number | undefined): boolean {
  const took = tookMs({ job, workflow });
  return slowAfterMs !== undefined && took !== null && took > slowAfterMs;
}

interface Subject {
  notice: Notice;
  job: Job | null;
  workflow: Workflow | null;
}

/** Runs of one line fail and recover together, and so do jobs and workflows of one name. Others cannot recover. */
function alarmOf({ notice, job, workflow }: Subject, list: readonly Notify[]): Delivery['alarm'] {
  if (notice.status === 'cancelled' || !list.some(({ on }) => on.includes('recovered'))) return null;
  const subject = job === null ? `workflow ${workflow?.name}` : subjectOf(job);
  return subject === null ? null : { subject, failing: notice.status === 'failed' };
}

function subjectOf({ tick, name }: Job): string | null {
  if (tick !== null) return `schedule ${tick.schedule} ${tick.key ?? ''}`;
  return name === null ? null : `job ${name}`;
}

function messages(
  { notify }: SchedulerContext,
  { event, list, ...subject }: Subject & { event: NotifyEvent; list: readonly Notify[] },
): Delivery['messages'] {
  const payload = payloadOf(event, { ...subject, publicUrl: notify.publicUrl });
  return resolveTargets(list, notify).flatMap(({ on, target, slowAfterMs }) => {
    if (!on.includes(event) || target.type === 'installation') return [];
    if (event === 'slow' && !isSlow(subject, slowAfterMs)) return [];
    return [{ event, job: messageJob(target, payload, notify.secret) }];
  });
}
