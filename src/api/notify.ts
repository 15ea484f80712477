/** `notify` lists of jobs, workflows and schedules. */

import { z } from 'zod';
import { STATUSES } from '../core/job.ts';
import { DEFAULT_LATE_AFTER_MS, NOTIFY_EVENTS, NOTIFY_SERVICES, type Notify } from '../core/notify.ts';
import { duration, text, wholeNumber, wireId } from './fields.ts';
import { itemsOf, named, strict } from './schemas.ts';

const MAX_URL_LENGTH = 2_048;

const webhook = z
  .string()
  .max(MAX_URL_LENGTH)
  .refine((value) => {
    const url = URL.parse(value);
    return url !== null && (url.protocol === 'http:' || url.protocol === 'https:') && url.username === '';
  }, 'expected a URL such as "https://example.com/hook", without a user name')
  .meta({ examples: ['https://example.com/hook'], description: 'Receives a signed POST with JSON.' });

const entry = strict({
  on: z
    .array(z.enum(NOTIFY_EVENTS))
    .min(1, 'expected at least one event')
    .meta({
      description:
        'failed: after the last attempt; recovered: the first success after a failure; done, cancelled: every such end; slow: it took longer than slow_after; missed and late: for schedules.',
      examples: [['failed', 'recovered']],
    }),
  webhook: webhook.exactOptional(),
  command: text(65_536)
    .meta({ description: 'A shell command that gets the event in WORKRON_NOTIFY_… variables.' })
    .exactOptional(),
  late_after: duration(1_000)
    .meta({ description: 'A run is late if it has not started this long after its tick; 5m by default.' })
    .exactOptional(),
  slow_after: duration(1_000)
    .meta({ description: 'The event slow is sent at the end of a run that took longer.' })
    .exactOptional(),
})
  .refine(({ on, slow_after }) => on.includes('slow') === (slow_after !== undefined), {
    path: ['slow_after'],
    message: 'expected with the event slow, and only with it',
  })
  .refine((value) => (value.webhook === undefined) !== (value.command === undefined), {
    message: 'expected exactly one of webhook and command',
  });

export const NotifyList = z.array(entry).max(16, 'at most 16 entries').meta({
  description:
    'Where to send notifications, and about which events. They are delivered by jobs in the queue workron.notify.',
});
export type NotifyList = z.output<typeof NotifyList>;

export const NotifyTest = named(
  'NotifyTest',
  strict({
    notify: NotifyList.min(1, 'expected at least one target').exactOptional(),
    installation: z
      .union([z.literal('all'), wholeNumber(1, 16)])
      .meta({ description: "A target of the installation's own list by its place, from 1, or all of them." })
      .exactOptional(),
  }).refine((value) => (value.notify === undefined) !== (value.installation === undefined), {
    message: 'expected exactly one of notify and installation',
  }),
);
export type NotifyTestInput = z.input<typeof NotifyTest>;

export const NotifyTested = named(
  'NotifyTested',
  itemsOf(z.object({ type: z.enum(['webhook', 'command']), job_id: wireId })),
);

export const NotifyTargets = named(
  'NotifyTargets',
  itemsOf(
    z.object({
      place: z.number().meta({ description: 'Its place in the list, from 1, as `POST /notify/test` takes it.' }),
      service: z.enum(NOTIFY_SERVICES),
      on: z.array(z.enum(NOTIFY_EVENTS)),
    }),
  ),
);
export type NotifyTargetView = z.output<typeof NotifyTargets>['items'][number];

export function notifyFrom(wire: NotifyList | undefined): Notify[] {
  return (wire ?? []).map(({ on, webhook: url, command, late_after, slow_after }) => ({
    on: [...new Set(on)],
    target: url === undefined ? { type: 'command', command: command as string } : { type: 'webhook', url },
    lateAfterMs: late_after ?? DEFAULT_LATE_AFTER_MS,
    ...(slow_after !== undefined && { slowAfterMs: slow_after }),
  }));
}

export const NotifyView = z.array(
  z.object({
    on: z.array(z.enum(NOTIFY_EVENTS)),
    webhook: z.string().exactOptional(),
    command: z.string().exactOptional(),
    late_after: z.number().meta({ description: 'Milliseconds.' }),
    slow_after: z.number().exactOptional().meta({ description: 'Milliseconds.' }),
  }),
);

/** Leaves out the targets that the installation adds: they are not part of the submitted list. */
export function notifyToWire(list: readonly Notify[]): z.output<typeof NotifyView> {
  return list.flatMap(({ on, target, lateAfterMs, slowAfterMs }) => {
    if (target.type === 'installation') return [];
    const to = target.type === 'webhook' ? { webhook: target.url } : { command: target.command };
    return [
      { on: [...on], ...to, late_after: lateAfterMs, ...(slowAfterMs !== undefined && { slow_after: slowAfterMs }) },
    ];
  });
}

/** A notification, and the job that delivers it. */
export const SentNotification = z.object({
  event: z.enum(NOTIFY_EVENTS),
  job_id: wireId,
  status: z.enum(STATUSES).meta({ description: 'The status of the job that delivers it: done if it was delivered.' }),
});

/** The subject of a notification. */
export const NotificationSubject = z.object({
  event: z.enum(NOTIFY_EVENTS),
  job_id: wireId.nullable(),
  workflow_id: wireId.nullable(),
  schedule: z.string().nullable(),
});
