/** Progress on its way to the scheduler. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { silentLog } from '../../src/ops/log.ts';
import { Reporter } from '../../src/worker/report/reporter.ts';
import { Assignment } from '../../src/worker/run/assignment.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';

test('reporter: the end of an attempt waits for its progress that is on its way, so that no outcome overtakes it', async () => {
  const source = new ScriptedSource();
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  source.before('report', () => {
    asked.resolve();
    return answered.promise;
  });
  const reporter = new Reporter(source, silentLog);
  const assignment = new Assignment({ id: 1, attempt: 1 } as never, 1, 0);
  reporter.progress(assignment, { fraction: 0.5, text: null });
  await asked.promise;
  const order: string[] = [];
  const ended = reporter.end(assignment).then(() => order.push('ended'));
  await setImmediate();
  order.push('answered');
  answered.resolve();
  await ended;
  assert.deepEqual(order, ['answered', 'ended']);
  assert.deepEqual(
    source.reports.map(({ progress }) => progress.fraction),
    [0.5],
  );
});
