/** What an expression means, as it is typed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchedulePreview } from '../../src/api/schedule-preview.ts';
import { openTestServer } from '../kit/http.ts';

test('preview: description, the next ticks in the zone, clock changes flagged', async () => {
  await using server = await openTestServer({ now: () => Date.parse('2027-03-12T12:00:00Z') });
  const { status, body } = await server.call('POST', '/schedules/preview', {
    cron: '30 2 * * *',
    timezone: 'America/New_York',
    count: 3,
  });
  assert.equal(status, 200);
  SchedulePreview.parse(body);
  assert.equal(body.description, 'At 02:30');
  assert.deepEqual(body.items, [
    { utc: '2027-03-13T07:30:00.000Z', local: '2027-03-13T02:30:00-05:00', note: null },
    { utc: '2027-03-14T07:00:00.000Z', local: '2027-03-14T03:00:00-04:00', note: 'the clock has just gone forward' },
    { utc: '2027-03-15T06:30:00.000Z', local: '2027-03-15T02:30:00-04:00', note: null },
  ]);
});

test('preview: a period; ten ticks by default', async () => {
  await using server = await openTestServer({ now: () => 1_000 });
  const { body } = await server.call('POST', '/schedules/preview', { every: '15m' });
  assert.deepEqual([body.description, body.items.length, body.items[0].utc], [null, 10, '1970-01-01T00:15:00.000Z']);
});

test('preview: an invalid expression, or one that never fires, is refused with a reason', async () => {
  await using server = await openTestServer();
  for (const [request, code] of [
    [{ cron: '61 * * * *' }, 'schedule_invalid'],
    [{ cron: '0 0 31 2 *' }, 'schedule_invalid'],
    [{ cron: '* * * * *', timezone: 'Mars/Base' }, 'schedule_invalid'],
    [{ cron: '* * * * *', every: '1m' }, 'bad_request'],
    [{}, 'bad_request'],
    [{ every: '1ms' }, 'bad_request'],
    [{ cron: '* * * * *', count: 101 }, 'bad_request'],
  ] as const) {
    const { status, body } = await server.call('POST', '/schedules/preview', request);
    assert.deepEqual([status, body.code], [400, code], JSON.stringify(request));
  }
});
