/** What well-known services expect as the body of a webhook. The host of the address decides; all others get the whole payload. */

import type { NotifyService } from '../../core/notify.ts';
import type { NotifyPayload } from './message.ts';

interface Request {
  url: string;
  body: string;
}

/** Such as `mail: exit 3 (job 12)`, with a link if there is a public address. */
type Format = (payload: NotifyPayload, url: URL) => unknown;

const FORMATS: readonly [service: NotifyService, host: RegExp, format: Format][] = [
  ['slack', /^hooks\.slack\.com$/, ({ text, links }) => ({ text: linked(text, links, (link) => `<${link}|open>`) })],
  [
    'discord',
    /^(?:[\w-]+\.)?discord(?:app)?\.com$/,
    ({ text, links }) => ({ content: linked(text, links, (link) => link) }),
  ],
  [
    'google-chat',
    /^chat\.googleapis\.com$/,
    ({ text, links }) => ({ text: linked(text, links, (link) => `<${link}|open>`) }),
  ],
  ['teams', /(?:^|\.)(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/, teams],
  ['pagerduty', /^events(?:\.eu)?\.pagerduty\.com$/, pagerDuty],
];

export function requestFor(address: string, payload: NotifyPayload): Request {
  const url = new URL(address);
  const [, , format] = formatOf(url) ?? [];
  if (format === undefined) return { url: address, body: JSON.stringify(payload) };
  const body = JSON.stringify(format(payload, url));
  return { url: url.href, body };
}

function formatOf(url: URL) {
  return FORMATS.find(([, host]) => host.test(url.hostname));
}

/** The service that an address belongs to; `webhook` for all others. */
export function serviceOf(address: string): NotifyService {
  return formatOf(new URL(address))?.[0] ?? 'webhook';
}

function linkOf(links: NotifyPayload['links']): string | undefined {
  const link = links['job'] ?? links['workflow'] ?? links['schedule'];
  return link?.startsWith('http') ? link : undefined;
}

function linked(text: string, links: NotifyPayload['links'], show: (link: string) => string): string {
  const link = linkOf(links);
  return link === undefined ? text : `${text} ${show(link)}`;
}

/** An adaptive card, which incoming webhooks and workflows of Teams both take. */
function teams({ text, links }: NotifyPayload): unknown {
  const link = linkOf(links);
  const actions = link === undefined ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] };
  const body = [{ type: 'TextBlock', text, wrap: true }];
  const content = { type: 'AdaptiveCard', version: '1.4', body, ...actions };
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
}

const SEVERITIES: Partial<Record<NotifyPayload['event'], string>> = {
  late: 'warning',
  slow: 'warning',
  cancelled: 'info',
};

/** An event of the Events API v2. The routing key is in the address, as `?routing_key=…`, and is not sent there. */
function pagerDuty({ event, text, at, job, workflow, schedule, links, test }: NotifyPayload, url: URL): unknown {
  const key = url.searchParams.get('routing_key');
  url.searchParams.delete('routing_key');
  const subject = job?.['schedule'] ?? schedule?.['name'] ?? job?.['name'] ?? workflow?.['name'] ?? job?.['id'];
  const link = linkOf(links);
  return {
    routing_key: key,
    event_action: event === 'recovered' || event === 'done' ? 'resolve' : 'trigger',
    // A recovery resolves the incident that the failure of the same subject opened.
    dedup_key: test ? 'workron test' : `workron ${String(subject)}`,
    payload: {
      summary: text.slice(0, 1_024),
      source: 'workron',
      severity: test ? 'info' : (SEVERITIES[event] ?? 'error'),
      timestamp: at,
    },
    ...(link === undefined ? {} : { links: [{ href: link, text: 'Open' }] }),
  };
}
