import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER as signal } from '../../src/core/never.ts';
import { Completions } from '../../src/library/completions.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { JobLog } from '../../src/scheduler/job-log.ts';
import { Telemetry } from '../../src/scheduler/telemetry.ts';
import { openMemory } from '../../src/store/memory/open.ts';

test('completions: an attempt that is lost and not committed is forgotten', async () => {
  await using store = openMemory({ clock: systemClock });
  const metrics = new Metrics('0', 'test');
  const telemetry = new Telemetry({ metrics, instanceId: 'test', log: new JobLog(silentLog), now: Date.now });
  const completions = new Completions(store, telemetry);
  const lease = { jobId: 1, attempt: 1 };
  completions.add(lease);
  assert.deepEqual(await completions.withoutCommitted([lease], signal), [lease]);
  // An open completion that has not committed would turn this into a failure.
  const settlement = { ...lease, workerId: 1, outcome: { type: 'succeeded', exitCode: null } } as const;
  const passed: unknown[] = [];
  const settle = async (rest: readonly unknown[]) => {
    passed.push(...rest);
    return ['lease_lost' as const];
  };
  assert.deepEqual(await completions.settle([settlement], settle, signal), ['lease_lost']);
  assert.deepEqual(passed, [settlement]);
});
