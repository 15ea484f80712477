/** Messages that a person sends to see whether a target works. They are delivered like all others, with one attempt. */

import { randomUUID } from 'node:crypto';
import { WorkronError } from '../../core/error.ts';
import type { Notify, NotifyEvent, NotifyService, NotifyTarget } from '../../core/notify.ts';
import type { SchedulerContext } from '../context.ts';
import { Submitter } from '../jobs/submit.ts';
import { serviceOf } from './format.ts';
import { messageJob, testPayload } from './message.ts';

/** Messages that may be sent at once; each is forgotten after a while. */
const BURST = 20;
const FORGET_MS = 3_000;

export interface TestRequest {
  /** The targets, or one of the installation's by its place in the list (from 1), or all of them. */
  targets: readonly Notify[] | number | 'installation';
  submittedBy: string | null;
}

/** Tells neither the address nor the command: those of the installation may be secrets. */
export interface TestMessage {
  type: 'webhook' | 'command';
  jobId: number;
}

/** A target of the installation, without address and command. */
export interface TargetSummary {
  /** Its place in the list, from 1. */
  place: number;
  service: NotifyService;
  on: readonly NotifyEvent[];
}

export interface NotifyTests {
  /** The targets of the installation, as this process has them in its settings. */
  notifyTargets(): TargetSummary[];

  /** Submits a job per target. Throws `too_many_requests` if this process has sent many just now. */
  testNotify(request: TestRequest, signal: AbortSignal): Promise<TestMessage[]>;
}

export function notifyTestsOf(context: SchedulerContext): NotifyTests {
  const { clock, notify, store } = context;
  const submitter = new Submitter(context);
  /** When all messages will be forgotten. */
  let forgottenAt = 0;
  const count = (messages: number) => {
    const now = clock.monotonicMs();
    const then = Math.max(now, forgottenAt) + messages * FORGET_MS;
    const waitMs = then - now - BURST * FORGET_MS;
    if (waitMs > 0)
      throw new WorkronError('too_many_requests', 'Too many test messages were sent', { retryAfterMs: waitMs });
    forgottenAt = then;
  };
  return {
    notifyTargets: () =>
      notify.list.map(({ on, target }, index) => ({ place: index + 1, service: kindOf(target), on })),
    async testNotify({ targets, submittedBy }, signal) {
      const list = typeof targets === 'object' ? targets : installationTargets(notify.list, targets);
      count(list.length);
      const at = await store.now(signal);
      const jobs = list.flatMap(({ on: [event = 'failed'], target }) => {
        if (target.type === 'installation') return [];
        const payload = testPayload(event, { id: `test-${randomUUID()}`, at });
        return [{ ...messageJob(target, payload, notify.secret), maxAttempts: 1, submittedBy }];
      });
      const { items } = await submitter.submit(jobs, {}, signal);
      return items.map(({ job }) => ({ type: job.handler === null ? 'command' : 'webhook', jobId: job.id }));
    },
  };
}

function kindOf(target: NotifyTarget): NotifyService {
  return target.type === 'webhook' ? serviceOf(target.url) : 'command';
}

function installationTargets(own: readonly Notify[], wanted: number | 'installation'): readonly Notify[] {
  const found = wanted === 'installation' ? own : own.slice(wanted - 1, wanted);
  if (found.length > 0) return found;
  const has = own.length === 0 ? 'has no targets' : `has ${own.length} ${own.length === 1 ? 'target' : 'targets'}`;
  throw new WorkronError('not_found', `The notify list of this installation ${has}`);
}
