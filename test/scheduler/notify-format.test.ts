import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestFor } from '../../src/scheduler/notify/format.ts';
import type { NotifyPayload } from '../../src/scheduler/notify/message.ts';

const payload: NotifyPayload = {
  id: '7',
  event: 'failed',
  at: '2026-11-17T02:00:00.000Z',
  text: 'backup (job 12) failed: exit 3',
  job: { id: '12', name: 'backup', schedule: null },
  workflow: null,
  schedule: null,
  links: { job: 'https://workron.example/jobs/12', logs: 'https://workron.example/jobs/12/logs' },
};

function sent(url: string, more: Partial<NotifyPayload> = {}): { url: string; body: Record<string, unknown> } {
  const request = requestFor(url, { ...payload, ...more });
  return { url: request.url, body: JSON.parse(request.body) as Record<string, unknown> };
}

test('notify formats: chat services get text and link, and nothing that they would refuse', () => {
  const text = 'backup (job 12) failed: exit 3';
  const link = 'https://workron.example/jobs/12';
  assert.deepEqual(sent('https://hooks.slack.com/services/a/b').body, { text: `${text} <${link}|open>` });
  assert.deepEqual(sent('https://chat.googleapis.com/v1/spaces/x').body, { text: `${text} <${link}|open>` });
  assert.deepEqual(sent('https://discord.com/api/webhooks/1/x').body, { content: `${text} ${link}` });
  const card = JSON.stringify(sent('https://x.webhook.office.com/a').body);
  assert.match(card, /AdaptiveCard.*backup \(job 12\) failed.*Action\.OpenUrl/);
});

test('notify formats: without a public address there is no link', () => {
  const links = { job: '/jobs/12' };
  assert.deepEqual(sent('https://hooks.slack.com/services/a/b', { links }).body, { text: payload.text });
});

test('notify formats: PagerDuty gets the key in the body, and a recovery resolves what the failure opened', () => {
  const url = 'https://events.pagerduty.com/v2/enqueue?routing_key=secret';
  const failed = sent(url);
  assert.equal(failed.url, 'https://events.pagerduty.com/v2/enqueue');
  const recovered = sent(url, { event: 'recovered', job: { id: '13', name: 'backup', schedule: null } });
  const brief = ({ body }: typeof failed) => [body['routing_key'], body['event_action'], body['dedup_key']];
  assert.deepEqual(brief(failed), ['secret', 'trigger', 'workron backup']);
  assert.deepEqual(brief(recovered), ['secret', 'resolve', 'workron backup']);
});

test('notify formats: every other address gets the whole payload, and looks alike are not taken for a service', () => {
  for (const url of ['https://example.com/hook', 'https://hooks.slack.com.example.com/', 'https://notdiscord.com/']) {
    assert.deepEqual(sent(url), { url, body: JSON.parse(JSON.stringify(payload)) as Record<string, unknown> });
  }
});
