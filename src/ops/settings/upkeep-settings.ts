/** Settings about upkeep: retention, notifications, secrets and the log. */

import { LOG_LEVELS, type LogLevel } from '../log-level.ts';
import { anyText, durationFrom, httpUrl, listOf, network, notifyTargets, oneOf, secret } from './parse.ts';
import { DATABASE, inGroup, PROCESSES, SERVERS, setting, WORKERS } from './setting.ts';

export const retentionSettings = inGroup('Retention', {
  retentionDoneMs: setting({
    name: 'retention-done',
    value: 'DURATION',
    default: 7 * 86_400_000,
    defaultText: '7d',
    parse: durationFrom(0),
    sentence: 'How long jobs with the status done are kept.',
    commands: SERVERS,
  }),
  retentionFailedMs: setting({
    name: 'retention-failed',
    value: 'DURATION',
    default: 30 * 86_400_000,
    defaultText: '30d',
    parse: durationFrom(0),
    sentence: 'How long failed, cancelled and skipped jobs are kept.',
    commands: SERVERS,
  }),
  retentionAuditMs: setting({
    name: 'retention-audit',
    value: 'DURATION',
    default: 365 * 86_400_000,
    defaultText: '365d',
    parse: durationFrom(0),
    sentence: 'How long the audit is kept.',
    commands: SERVERS,
  }),
  retentionLedgerMs: setting({
    name: 'retention-ledger',
    value: 'DURATION',
    default: 90 * 86_400_000,
    defaultText: '90d',
    parse: durationFrom(0),
    sentence: 'How long the ledger of schedules is kept.',
    commands: SERVERS,
  }),
  retentionStatsMs: setting({
    name: 'retention-stats',
    value: 'DURATION',
    default: 90 * 86_400_000,
    defaultText: '90d',
    parse: durationFrom(0),
    sentence: 'How long statistics are kept.',
    commands: SERVERS,
  }),
});

export const notifySettings = inGroup('Notifications', {
  notify: setting<readonly unknown[]>({
    name: 'notify',
    value: 'EVENT,…=TARGET|JSON',
    default: [],
    defaultText: 'none',
    parse: notifyTargets,
    sentence:
      'Who is notified about every job, workflow and schedule, in addition to their own targets: one target such as failed,recovered=https://example.com/hook, or a list as in docs/notify.md, such as [{"on": ["failed"], "webhook": "https://example.com/hook"}]. Must be the same on all processes.',
    commands: SERVERS,
  }),
  notifySecret: setting<string | null>({
    name: 'notify-secret',
    value: 'SECRET',
    default: null,
    defaultText: 'none',
    parse: secret,
    sentence: 'Signs webhook requests: the header X-Workron-Signature is sha256= followed by the HMAC of the body.',
    commands: SERVERS,
  }),
  notifyAllowPrivate: setting<readonly string[]>({
    name: 'notify-allow-private',
    value: 'NETWORK,…',
    default: [],
    defaultText: 'none',
    parse: listOf(network),
    sentence:
      'Private, loopback and link-local addresses that this worker may send webhooks to: networks such as 10.0.0.0/8, single addresses, or all.',
    commands: WORKERS,
  }),
  publicUrl: setting<string | null>({
    name: 'public-url',
    value: 'URL',
    default: null,
    defaultText: 'none',
    parse: httpUrl,
    sentence: 'Public address of this installation, used for links in notifications.',
    commands: SERVERS,
  }),
});

export const secretSettings = inGroup('Secrets', {
  secretsKeyFile: setting<string | null>({
    name: 'secrets-key-file',
    value: 'FILE',
    default: null,
    defaultText: 'none',
    parse: anyText,
    sentence:
      'File with the keys that seal secrets, the values of env and inputs with seal_input: 32 random bytes in base64 per line. The first one seals, all of them open. It must not be readable by all users.',
    commands: PROCESSES,
  }),
  secretsKeyCommand: setting<string | null>({
    name: 'secrets-key-command',
    value: 'COMMAND',
    default: null,
    defaultText: 'none',
    parse: anyText,
    sentence: 'Shell line that prints those keys instead. It runs once, when the process starts.',
    commands: PROCESSES,
  }),
});

export const logSettings = inGroup('Log', {
  logLevel: setting<LogLevel>({
    name: 'log-level',
    value: 'LEVEL',
    default: 'info',
    defaultText: 'info',
    parse: oneOf(LOG_LEVELS),
    sentence: `Least severe level that is logged, of ${LOG_LEVELS.join(', ')}. The log goes to stderr: JSON lines, or readable lines on a terminal.`,
    commands: DATABASE,
  }),
});
