/** How the runs of schedules went: in the ledger, on the schedule, and on the timeline. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ScheduleDetail } from '../../src/api/schedule.ts';
import { TickPage } from '../../src/api/tick.ts';
import { Timeline } from '../../src/api/timeline.ts';
import { claimOverHttp, openTestServer } from '../kit/http.ts';

test('a schedule and its ledger say how the runs went, not only that they were started', async () => {
  await using server = await openTestServer();
  const submission = { name: 'certs', every: '1h', job: { command: 'false', max_attempts: 1 } };
  await server.call('POST', '/schedules', submission);
  const { body: fresh } = await server.call('GET', '/schedules/certs');
  assert.deepEqual([fresh.last_status, fresh.recent], [null, {}]);
  await server.call('POST', '/schedules/certs/run');
  assert.equal((await server.call('GET', '/schedules/certs')).body.last_status, 'pending');
  const { id, attempt, worker } = await claimOverHttp(server);
  await server.call('POST', `/jobs/${id}/fail`, { worker_id: worker, attempt, error: 'exit 1' });

  const { body: schedule } = await server.call('GET', '/schedules/certs');
  ScheduleDetail.parse(schedule);
  assert.deepEqual([schedule.last_verdict, schedule.last_status, schedule.recent], ['ran', 'failed', { failed: 1 }]);
  const { body: listed } = await server.call('GET', '/schedules');
  assert.deepEqual(listed.items[0].recent, { failed: 1 });
  const { body: ledger } = await server.call('GET', '/schedules/certs/ticks');
  TickPage.parse(ledger);
  const [tick] = ledger.items;
  assert.deepEqual([tick.verdict, tick.run.status, tick.run.ended_at === null], ['ran', 'failed', false]);
});

test('the timeline has the runs of each schedule and its ticks to come, none while it is paused', async () => {
  await using server = await openTestServer();
  await server.call('POST', '/schedules', { name: 'hourly', every: '1h', job: { command: 'true' } });
  await server.call('POST', '/schedules', { name: 'paused', every: '1h', job: { command: 'true' } });
  await server.call('POST', '/schedules/paused/pause');
  await server.call('POST', '/schedules/hourly/run');
  const { body } = await server.call('GET', '/timeline?from=1h&ahead=3h');
  Timeline.parse(body);
  const [hourly, paused] = body.schedules;
  assert.deepEqual([body.complete, hourly.schedule.name, hourly.ticks.length], [true, 'hourly', 1]);
  assert.equal(hourly.ticks[0].run.status, 'pending');
  assert.equal(hourly.next.length, 3);
  assert.deepEqual([paused.schedule.name, paused.next], ['paused', []]);
  assert.equal((await server.call('GET', '/timeline?ahead=30d&each=5')).body.schedules[0].next.length, 5);
  assert.deepEqual((await server.call('GET', '/timeline?from=2999-01-01T00:00:00Z')).body.schedules[0].ticks, []);
  for (const query of ['each=0', 'each=501', 'ahead=x', 'from=x', 'to=1h']) {
    assert.equal((await server.call('GET', `/timeline?${query}`)).status, 400, query);
  }
});

test('a schedule says how its last run went, also after a backfill of many older ticks', async () => {
  await using server = await openTestServer();
  const steps = [{ key: 'only', command: 'true' }];
  await server.call('POST', '/schedules', { name: 'job', every: '1h', overlap: 'allow', job: { command: 'true' } });
  await server.call('POST', '/schedules', {
    name: 'workflow',
    every: '1h',
    overlap: 'allow',
    workflow: { name: 'w', steps },
  });
  for (const name of ['job', 'workflow']) {
    await server.call('POST', `/schedules/${name}/run`);
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T06:00:00Z' };
    assert.equal((await server.call('POST', `/schedules/${name}/backfill`, range)).status, 201);
    assert.equal((await server.call('GET', `/schedules/${name}`)).body.last_status, 'pending');
  }
});
