/**
 * Turns notices into messages. The notice was written with what it tells of, and goes in the transaction that stores its
 * messages: whoever dies between, each message is stored once. A notice that cannot be made into a message stays, and
 * the others go on.
 */

import { isWorkronError } from '../core/error.ts';
import type { Job } from '../core/job.ts';
import type { Notify, NotifyEvent } from '../core/notify.ts';
import type { Loop } from '../ops/loop.ts';
import type { Delivery, Notice, Workflow } from '../store/store.ts';
import type { SchedulerContext } from './context.ts';
import { resolveInstallation } from './notify-context.ts';
import { payloadOf } from './notify-event.ts';
import { messageJob } from './notify-message.ts';

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
          await tell(context, notice, signal);
        } catch (error) {
          if (signal.aborted || isWorkronError(error, 'leadership_lost')) throw error;
          if (isWorkronError(error) && error.retryable) throw error;
          context.log.error({ notice: notice.id, job_id: notice.jobId, error }, 'a notice could not be told');
        }
      }
      return notices.length === BATCH ? 0 : undefined;
    },
  };
}

async function tell(context: SchedulerContext, notice: Notice, signal: AbortSignal): Promise<void> {
  const { store, telemetry } = context;
  const delivery = await deliveryOf(context, notice, signal);
  const jobs = await store.deliver(notice.id, delivery, signal);
  if (jobs !== undefined) telemetry.submitted(jobs.map((job) => ({ job, deduplicated: false })));
}

/** What became of it meanwhile decides: retention may have deleted it. */
async function deliveryOf(context: SchedulerContext, notice: Notice, signal: AbortSignal): Promise<Delivery> {
  const { store } = context;
  const [job = null] = notice.jobId === null ? [] : await store.read([notice.jobId], signal);
  const workflow = notice.workflowId === null ? null : ((await store.workflow(notice.workflowId, signal)) ?? null);
  const subject = { notice, job, workflow };
  if (job === null && workflow === null) return NOTHING;
  const list = job?.notify ?? workflow?.notify ?? [];
  const event = notice.status === 'done' ? 'recovered' : 'failed';
  return {
    alarm: alarmOf(subject, list),
    messages: messages(context, { ...subject, event, list }),
  };
}

interface Subject {
  notice: Notice;
  job: Job | null;
  workflow: Workflow | null;
}

/** Jobs and workflows of one name fail and recover together; without a name there is nothing that could recover. */
function alarmOf({ notice, job, workflow }: Subject, list: readonly Notify[]): Delivery['alarm'] {
  if (!list.some(({ on }) => on.includes('recovered'))) return null;
  const subject = workflow === null ? (job?.name == null ? null : `job ${job.name}`) : `workflow ${workflow.name}`;
  return subject === null ? null : { subject, failing: notice.status === 'failed' };
}

function messages(
  { notify }: SchedulerContext,
  { event, list, ...subject }: Subject & { event: NotifyEvent; list: readonly Notify[] },
): Delivery['messages'] {
  const payload = payloadOf(event, { ...subject, publicUrl: notify.publicUrl });
  return resolveInstallation(list, notify).flatMap(({ on, target }) => {
    if (!on.includes(event) || target.type === 'installation') return [];
    return [{ event, job: messageJob(target, payload, notify.secret) }];
  });
}
