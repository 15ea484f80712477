/** Options that set the scheduler: the server's settings in camel case, checked by the same rules. */

import { formatDuration } from '../core/duration.ts';
import { WorkronError } from '../core/error.ts';
import type { NodeSettings } from '../node/node.ts';
import { SETTINGS } from '../ops/settings/settings.ts';
import type { OpenOptions } from './open.ts';
import type { Duration } from './options.ts';

/** Over HTTP these are settings of the server. */
const SERVER_ONLY = [
  'actor',
  'notify',
  'secretsKey',
  'reapEvery',
  'retentionDone',
  'retentionFailed',
  'retentionLedger',
  'retentionAudit',
  'retentionStats',
] as const satisfies (keyof OpenOptions)[];

export function refuseServerOptions(options: OpenOptions): void {
  const given = SERVER_ONLY.find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new WorkronError('bad_request', `${given}: configure it on the server; an HTTP client cannot set it`);
}

/** A short lease also shortens the defaults of `heartbeat` and `reapEvery`. */
export function nodeSettings(options: OpenOptions): NodeSettings {
  const leaseMs = durationOf('lease', options.lease);
  const defaultHeartbeatMs = Math.min(SETTINGS.heartbeatMs.default, Math.floor(leaseMs / 3));
  const heartbeatMs = durationOf('heartbeat', options.heartbeat, defaultHeartbeatMs);
  if (heartbeatMs * 2 > leaseMs) {
    const expected = `at most half of lease (${formatDuration(leaseMs)})`;
    throw new WorkronError('bad_request', `heartbeat: expected ${expected}, got ${formatDuration(heartbeatMs)}`);
  }
  return {
    leaseMs,
    heartbeatMs,
    reapEveryMs: durationOf('reapEvery', options.reapEvery, Math.min(SETTINGS.reapEveryMs.default, leaseMs)),
    retentionDoneMs: durationOf('retentionDone', options.retentionDone),
    retentionFailedMs: durationOf('retentionFailed', options.retentionFailed),
    retentionLedgerMs: durationOf('retentionLedger', options.retentionLedger),
    retentionAuditMs: durationOf('retentionAudit', options.retentionAudit),
    retentionStatsMs: durationOf('retentionStats', options.retentionStats),
  };
}

/** Options whose setting has the same name, in milliseconds. */
type DurationOption = 'drainTimeout' | (keyof NodeSettings extends `${infer Name}Ms` ? Name : never);
type ValueOf<Name extends DurationOption> = (typeof SETTINGS)[`${Name}Ms`]['default'];

/** Milliseconds; `bad_request` if the value breaks the rules of the setting. */
export function durationOf<Name extends DurationOption>(
  option: Name,
  value: Duration | undefined,
  defaultMs: ValueOf<Name> = SETTINGS[`${option}Ms`].default,
): ValueOf<Name> {
  if (value === undefined) return defaultMs;
  try {
    return SETTINGS[`${option}Ms`].parse(String(value));
  } catch (error) {
    const got = typeof value === 'string' ? `"${value}"` : String(value);
    throw new WorkronError('bad_request', `${option}: expected ${(error as Error).message}, got ${got}`);
  }
}
