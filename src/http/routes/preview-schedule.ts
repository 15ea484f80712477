import { SchedulePreview, SchedulePreviewRequest } from '../../api/schedule-preview.ts';
import { parseCron } from '../../core/schedule/cron.ts';
import { parseEvery } from '../../core/schedule/every.ts';
import { requireTicks } from '../../core/schedule/require-ticks.ts';
import { describeCron } from '../../api/describe-cron.ts';
import { previewTicks } from '../preview-ticks.ts';
import { defineRoute } from '../route.ts';

const DEFAULT_COUNT = 10;

export const previewSchedule = defineRoute({
  method: 'POST',
  path: '/schedules/preview',
  scope: 'read',
  summary: 'What an expression means in words and when it would be due next; nothing is stored',
  body: SchedulePreviewRequest,
  answers: { 200: SchedulePreview },
  handle({ body, now }) {
    const { cron, every = 0, anchor, timezone = 'UTC', count = DEFAULT_COUNT } = body;
    const from = body.from ?? now();
    const recurrence = cron === undefined ? parseEvery(every, anchor) : parseCron(cron, timezone);
    requireTicks(recurrence, from - 1);
    const words = cron === undefined ? null : describeCron(cron);
    return { status: 200, json: { words, timezone, items: previewTicks(recurrence, { timezone, from, count }) } };
  },
});
