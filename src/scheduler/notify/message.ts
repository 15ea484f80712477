/** The job that carries one message. */

import { createHmac } from 'node:crypto';
import { DEFAULT_BACKOFF, DEFAULT_SPEC, type NewJob } from '../../core/job.ts';
import { NOTIFY_QUEUE, type NotifyTarget, WEBHOOK_HANDLER } from '../../core/notify.ts';
import { type NotifyPayload, variablesOf } from './payload.ts';

/** About an hour and a half of tries. */
const MAX_ATTEMPTS = 10;
const BASE_MS = 10_000;
const TIMEOUT_MS = 60_000;
/** Before other work: there is little of it, and somebody waits for it. */
const PRIORITY = 1_000;

/** What the handler in the worker gets: the text as it was signed. */
export interface WebhookInput {
  url: string;
  body: string;
  /** `null`: the installation has no secret. */
  signature: string | null;
}

export function messageJob(
  target: Exclude<NotifyTarget, { type: 'installation' }>,
  payload: NotifyPayload,
  secret: string | null,
): NewJob {
  return {
    ...DEFAULT_SPEC,
    name: `notify ${payload.event}`,
    queue: NOTIFY_QUEUE,
    priority: PRIORITY,
    maxAttempts: MAX_ATTEMPTS,
    backoff: { ...DEFAULT_BACKOFF, baseMs: BASE_MS },
    timeoutMs: TIMEOUT_MS,
    ...(target.type === 'webhook'
      ? { handler: WEBHOOK_HANDLER, input: webhookInput(target.url, payload, secret) }
      : { command: target.command, env: variablesOf(payload) }),
    runAt: null,
    delayMs: null,
    unique: null,
    dependsOn: [],
  };
}

/** Signed here, so that no worker needs the secret. */
function webhookInput(url: string, payload: NotifyPayload, secret: string | null): WebhookInput {
  const body = JSON.stringify(payload);
  const signature = secret === null ? null : `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return { url, body, signature };
}
