/** Schedules over HTTP: what is taken, what is refused, what is answered. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../kit/eventually.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';

const NIGHTLY = { name: 'nightly', cron: '0 2 * * *', timezone: 'Europe/Berlin', job: { command: './report.sh' } };
const FAST = { name: 'fast', every: '1s', job: { command: 'true' } };

interface Given {
  call: (...args: Parameters<TestServer['call']>) => ReturnType<TestServer['call']>;
}

async function withServer(body: (given: Given) => Promise<void>): Promise<void> {
  await using server = await openTestServer();
  await body({ call: (...args) => server.call(...args) });
}

describe('schedules over HTTP', { concurrency: 4 }, () => {
  test('POST /schedules: fills in defaults and returns the next run', () =>
    withServer(async ({ call }) => {
      const { status, headers, body } = await call('POST', '/schedules', {
        ...NIGHTLY,
        job: { command: 'x', env: { SECRET: 's' }, timeout: '10m' },
        notify: [{ on: ['missed'], command: 'mail' }],
      });
      assert.deepEqual([status, headers.get('location')], [201, '/schedules/nightly']);
      assert.deepEqual(
        [body.description, body.cron, body.every, body.timezone, body.overlap, body.jitter, body.for_each, body.owner],
        ['At 02:00', '0 2 * * *', null, 'Europe/Berlin', 'skip', 0, null, null],
      );
      assert.deepEqual(body.catchup, { policy: 'latest', window: 3_600_000, max: 10 });
      assert.deepEqual([body.job.command, body.job.timeout, body.job.env], ['x', 600_000, ['SECRET']]);
      assert.deepEqual(body.notify, [{ on: ['missed'], command: 'mail', late_after: 300_000 }]);
      assert.ok(Date.parse(body.next_run) > Date.now());
      assert.deepEqual([body.last_run, body.last_verdict, body.paused_at], [null, null, null]);
      assert.deepEqual((await call('GET', '/schedules/nightly')).body, { ...body, last_status: null, recent: {} });
    }));

  test('PATCH /schedules/{name}: fields of the job that are not given stay, null sets the default', () =>
    withServer(async ({ call }) => {
      const env = { A: 'secret', B: 'x' };
      const job = { command: 'one', queue: 'reports', priority: 7, timeout: '10m', start_timeout: '1h', env };
      await call('POST', '/schedules', { ...NIGHTLY, job });
      const patched = async (change: object) => {
        const { status, body } = await call('PATCH', '/schedules/nightly', { job: change });
        assert.equal(status, 200, JSON.stringify(body));
        const { command, queue, priority, timeout, start_timeout, env: names } = body.job;
        return [command, queue, priority, timeout, start_timeout, names];
      };
      assert.deepEqual(await patched({ timeout: '20m' }), ['one', 'reports', 7, 1_200_000, 3_600_000, ['A', 'B']]);
      assert.deepEqual(await patched({ command: 'two', env: { B: null, C: 'y' } }), [
        'two',
        'reports',
        7,
        1_200_000,
        3_600_000,
        ['A', 'C'],
      ]);
      assert.deepEqual(await patched({ queue: null, start_timeout: null, env: null }), [
        'two',
        'default',
        7,
        1_200_000,
        null,
        [],
      ]);
      const wrong: [object, string][] = [
        [{}, '/job'],
        [{ command: 'x', handler: 'y' }, '/job'],
        [{ command: null }, '/job/command'],
        [{ max_attempts: 1, max_retries: 1 }, '/job/max_retries'],
        [{ unique: { key: 'k' } }, '/job/unique'],
        [{ env: { A: 1 } }, '/job/env/A'],
        [{ input: 1 }, ''],
      ];
      for (const [change, pointer] of wrong) {
        const { status, body } = await call('PATCH', '/schedules/nightly', { job: change });
        assert.equal(status, 400, JSON.stringify(change));
        if (pointer !== '') assert.equal(body.errors?.[0]?.pointer, pointer, JSON.stringify(body));
      }
      assert.equal((await call('GET', '/schedules/nightly')).body.job.command, 'two');
    }));

  test('schedules: several expressions in a list are one text, and read back as they are given', () =>
    withServer(async ({ call }) => {
      const cron = ['0 2 * * *', '0 14 * * *'];
      const { status, body } = await call('POST', '/schedules', { ...NIGHTLY, timezone: 'UTC', cron });
      assert.deepEqual([status, body.cron, body.description], [201, '0 2 * * *; 0 14 * * *', 'At 02:00; At 14:00']);
      const next = (await call('GET', '/schedules/nightly/next?count=4')).body.items as { utc: string }[];
      assert.deepEqual(new Set(next.map(({ utc }) => utc.slice(11, 16))), new Set(['02:00', '14:00']));
      const again = await call('PATCH', '/schedules/nightly', { cron: body.cron });
      assert.deepEqual([again.status, again.body.next_run], [200, body.next_run]);
      for (const wrong of [[], ['0 2 * * *', ''], ['0 25 * * *', '0 2 * * *'], [7]]) {
        assert.equal((await call('PATCH', '/schedules/nightly', { cron: wrong })).status, 400, String(wrong));
      }
    }));

  test('schedules: a zone that does not exist is refused with every, wherever it is given', () =>
    withServer(async ({ call }) => {
      const wrong = { ...FAST, timezone: 'Mars/Phobos' };
      assert.equal((await call('POST', '/schedules', wrong)).status, 400);
      assert.equal((await call('PUT', '/schedules/fast', { ...wrong, name: undefined })).status, 400);
      const apply = { owner: 'me', schedules: [wrong], dry_run: true };
      assert.equal((await call('POST', '/schedules/apply', apply)).status, 400);
      assert.equal((await call('GET', '/schedules/fast')).status, 404);
    }));

  test('POST /schedules: what cannot be a schedule is refused with its place, and nothing is stored', () =>
    withServer(async ({ call }) => {
      const wrong: [object, string][] = [
        [{ ...NIGHTLY, name: 'Nightly' }, '/name'],
        [{ ...NIGHTLY, name: 'x'.repeat(129) }, '/name'],
        [{ ...NIGHTLY, name: '..' }, '/name'],
        [{ ...NIGHTLY, every: '5m' }, ''],
        [{ ...NIGHTLY, cron: undefined }, ''],
        [{ ...NIGHTLY, job: undefined }, ''],
        [{ ...NIGHTLY, anchor: '2026-01-01T00:00:00Z' }, '/anchor'],
        [{ ...NIGHTLY, job: { command: 'x', delay: '5m' } }, '/job/delay'],
        [{ ...NIGHTLY, job: { command: 'x', unique: { key: 'k' } } }, '/job/unique'],
        [{ ...NIGHTLY, job: { command: 'x', gang: { size: 2 } } }, '/job/gang'],
        [{ ...NIGHTLY, overlap: 'maybe' }, '/overlap'],
        [{ ...NIGHTLY, catchup: { policy: 'all', max: 1_001 } }, '/catchup/max'],
        [{ ...NIGHTLY, for_each: [] }, '/for_each'],
        [{ ...NIGHTLY, for_each: ['a', 'a'] }, '/for_each'],
        [{ ...NIGHTLY, timezon: 'UTC' }, '/timezon'],
        [{ ...FAST, every: '999ms' }, '/every'],
        [{ ...NIGHTLY, notify: [{ on: ['late'] }] }, '/notify/0'],
        [{ ...NIGHTLY, notify: [{ on: ['late'], webhook: 'ftp://x' }] }, '/notify/0/webhook'],
        [
          { ...NIGHTLY, job: undefined, workflow: { name: 'w', steps: [{ key: 'a', command: 'x', depends_on: 'b' }] } },
          '/workflow/steps/0/depends_on',
        ],
      ];
      for (const [body, pointer] of wrong) {
        const { status, body: problem } = await call('POST', '/schedules', body);
        assert.deepEqual([status, problem.errors?.[0]?.pointer], [400, pointer], JSON.stringify([body, problem]));
      }
      for (const timing of [{ cron: '0 25 * * *' }, { cron: '0 0 31 2 *' }, { timezone: 'Europe/Berln' }]) {
        const { status, body } = await call('POST', '/schedules', { ...NIGHTLY, ...timing });
        assert.deepEqual([status, body.code], [400, 'schedule_invalid'], JSON.stringify(timing));
      }
      const gang = await call('POST', '/schedules', { ...NIGHTLY, job: { command: 'x', gang: { size: 2 } } });
      assert.match(gang.body.errors[0].detail, /a run is one job: for a gang, expected a workflow with a step/);
      const over = await call('POST', '/schedules', { ...NIGHTLY, end_at: '2020-01-01T00:00:00Z' });
      assert.deepEqual([over.status, over.body.code], [400, 'schedule_invalid']);
      assert.deepEqual((await call('GET', '/schedules')).body, { items: [], next_cursor: null });
    }));

  test('POST /schedules: a name is taken once; DELETE makes it free, and answers with what it was', () =>
    withServer(async ({ call }) => {
      const { body: made } = await call('POST', '/schedules', NIGHTLY);
      const again = await call('POST', '/schedules', NIGHTLY);
      assert.deepEqual([again.status, again.body.code], [409, 'schedule_exists']);
      const gone = await call('DELETE', '/schedules/nightly');
      assert.deepEqual([gone.status, gone.body], [200, made]);
      assert.equal((await call('POST', '/schedules', NIGHTLY)).status, 201);
    }));

  test('PUT /schedules/{name}: made, changed, or left alone; another owner’s is not touched', () =>
    withServer(async ({ call }) => {
      const { name, ...nightly } = NIGHTLY;
      const made = await call('PUT', `/schedules/${name}`, nightly);
      assert.deepEqual([made.status, made.headers.get('location')], [201, '/schedules/nightly']);
      const paused = (await call('POST', '/schedules/nightly/pause', { note: 'the move' })).body;
      const kept = await call('PUT', '/schedules/nightly', nightly);
      assert.deepEqual([kept.status, kept.body], [200, paused]);
      const changed = await call('PUT', '/schedules/nightly', { every: '1h', job: { command: 'other' } });
      assert.deepEqual(
        [changed.status, changed.body.cron, changed.body.timezone, changed.body.paused_note],
        [200, null, 'UTC', 'the move'],
      );
      await call('PATCH', '/schedules/nightly', { owner: 'team-a' });
      const foreign = await call('PUT', '/schedules/nightly', nightly);
      assert.deepEqual([foreign.status, foreign.body.code], [409, 'schedule_exists']);
      assert.equal((await call('PUT', '/schedules/nightly', { ...nightly, owner: 'team-a' })).status, 200);
      for (const wrong of [NIGHTLY, {}, { cron: '0 2 * * *' }, { ...nightly, cron: '0 0 31 2 *' }]) {
        assert.equal((await call('PUT', '/schedules/other', wrong)).status, 400, JSON.stringify(wrong));
      }
      assert.equal((await call('PUT', '/schedules/Not%20A%20Name', nightly)).status, 400);
      assert.equal((await call('GET', '/schedules')).body.items.length, 1);
    }));

  test('what is about a schedule that is not there is 404, whatever its name', () =>
    withServer(async ({ call }) => {
      const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
      for (const name of ['none', 'No%20Name', '%00']) {
        const path = `/schedules/${name}`;
        const calls = [
          call('GET', path),
          call('PATCH', path, { jitter: '1m' }),
          call('DELETE', path),
          call('POST', `${path}/pause`),
          call('POST', `${path}/resume`),
          call('POST', `${path}/run`),
          call('POST', `${path}/backfill`, range),
          call('GET', `${path}/next`),
          call('GET', `${path}/ticks`),
        ];
        for (const { status } of await Promise.all(calls)) assert.equal(status, 404, path);
      }
      const { body } = await call('GET', '/schedules/none');
      assert.equal(body.code, 'schedule_not_found');
    }));

  test('GET /schedules: by name, in pages, by owner and by part of the name', () =>
    withServer(async ({ call }) => {
      for (const name of ['b.two', 'a.one', 'c.three']) {
        await call('POST', '/schedules', { ...NIGHTLY, name, owner: name === 'a.one' ? 'team' : null });
      }
      const first = await call('GET', '/schedules?limit=2');
      const names = ({ body }: typeof first) => body.items.map(({ name }: { name: string }) => name);
      assert.deepEqual(names(first), ['a.one', 'b.two']);
      const second = await call('GET', `/schedules?limit=2&cursor=${first.body.next_cursor}`);
      assert.deepEqual([names(second), second.body.next_cursor], [['c.three'], null]);
      assert.deepEqual(names(await call('GET', '/schedules?owner=team')), ['a.one']);
      assert.deepEqual(names(await call('GET', '/schedules?q=t')), ['b.two', 'c.three']);
      for (const query of ['cursor=x', 'limit=0', 'limit=201', 'owner=', 'what=1']) {
        assert.equal((await call('GET', `/schedules?${query}`)).status, 400, query);
      }
    }));

  test('PATCH /schedules/{name}: what is left out stays; cron and every, job and workflow take each other’s place', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', { ...NIGHTLY, jitter: '5m' });
      const every = await call('PATCH', '/schedules/nightly', { every: '15m' });
      assert.deepEqual(
        [every.status, every.body.cron, every.body.every, every.body.jitter],
        [200, null, 900_000, 300_000],
      );
      const steps = [
        { key: 'a', command: 'x' },
        { key: 'b', command: 'y', depends_on: 'a' },
      ];
      const { body } = await call('PATCH', '/schedules/nightly', { workflow: { name: 'flow', steps }, owner: 'me' });
      assert.deepEqual([body.job, body.workflow.name, body.owner], [null, 'flow', 'me']);
      assert.deepEqual(body.workflow.steps, [
        { key: 'a', depends_on: [] },
        { key: 'b', depends_on: ['a'] },
      ]);
      const back = await call('PATCH', '/schedules/nightly', { cron: '@daily', job: { command: 'z' }, owner: null });
      assert.deepEqual([back.body.every, back.body.workflow, back.body.owner], [null, null, null]);
      for (const wrong of [
        {},
        { cron: 'x', every: '5m' },
        { name: 'other' },
        { cron: '@daily', anchor: '2026-01-01T00:00:00Z' },
      ]) {
        assert.equal((await call('PATCH', '/schedules/nightly', wrong)).status, 400, JSON.stringify(wrong));
      }
      assert.equal((await call('PATCH', '/schedules/nightly', { cron: '0 0 31 2 *' })).body.code, 'schedule_invalid');
      assert.equal((await call('GET', '/schedules/nightly')).body.cron, '@daily');
    }));

  test('pause and resume: with a note, twice is fine, and nothing is due while it is paused', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', NIGHTLY);
      const paused = await call('POST', '/schedules/nightly/pause', { note: 'the move' });
      assert.deepEqual([paused.status, paused.body.paused_note, paused.body.next_run], [200, 'the move', null]);
      const twice = await call('POST', '/schedules/nightly/pause');
      assert.deepEqual([twice.status, twice.body.paused_at], [200, paused.body.paused_at]);
      const { status, body } = await call('POST', '/schedules/nightly/resume');
      assert.deepEqual([status, body.paused_at, body.paused_note], [200, null, null]);
      assert.ok(Date.parse(body.next_run) > Date.now());
      assert.equal((await call('POST', '/schedules/nightly/pause', { nte: 'x' })).status, 400);
    }));

  test('GET /schedules/{name}/next: in the zone and in UTC, with what the clock does', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', NIGHTLY);
      const { status, body } = await call('GET', '/schedules/nightly/next?count=400');
      assert.deepEqual([status, body.timezone, body.items.length], [200, 'Europe/Berlin', 400]);
      assert.match(body.items[0].local, /T02:00:00\+0[12]:00$/);
      assert.equal(Date.parse(body.items[0].local), Date.parse(body.items[0].utc));
      const notes = new Set(body.items.map(({ note }: { note: string | null }) => note));
      assert.deepEqual(notes, new Set([null, 'after_gap', 'first_of_two']), 'a year has both changes');
      assert.equal((await call('GET', '/schedules/nightly/next')).body.items.length, 10);
      for (const count of ['0', '1001', 'x']) {
        assert.equal((await call('GET', `/schedules/nightly/next?count=${count}`)).status, 400);
      }
    }));

  test('POST /schedules/{name}/run: runs now, once per key, once per Idempotency-Key', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', { ...NIGHTLY, for_each: ['a', 'b'] });
      const key = { 'idempotency-key': 'once' };
      const first = await call('POST', '/schedules/nightly/run', { keys: ['a'] }, key);
      assert.equal(first.status, 201);
      const [tick] = first.body.items;
      assert.deepEqual([tick.kind, tick.key, tick.verdict], ['manual', 'a', 'ran']);
      const job = (await call('GET', `/jobs/${tick.job_id}`)).body;
      assert.deepEqual([job.name, job.command], ['nightly', './report.sh']);
      const again = await call('POST', '/schedules/nightly/run', { keys: ['a'] }, key);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
      assert.deepEqual(again.body, first.body);
      const other = await call('POST', '/schedules/nightly/run', { keys: ['b'] }, key);
      assert.deepEqual([other.status, other.body.code], [422, 'idempotency_mismatch']);
      const overlapping = await call('POST', '/schedules/nightly/run', { keys: ['a'] });
      assert.deepEqual([overlapping.status, overlapping.body.code], [409, 'illegal_transition']);
      assert.equal((await call('POST', '/schedules/nightly/run', { keys: ['c'] })).status, 400);
      assert.equal((await call('GET', '/jobs')).body.items.length, 1);
    }));

  test('POST /schedules/{name}/backfill: a dry run lists the ticks without a run, a run starts them', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', { name: 'hourly', cron: '0 * * * *', overlap: 'allow', job: { command: 'x' } });
      const hour = 3_600_000;
      const to = Math.floor(Date.now() / hour) * hour;
      const range = { from: new Date(to - 3 * hour).toISOString(), to: new Date(to).toISOString() };
      const dry = await call('POST', '/schedules/hourly/backfill', { ...range, dry_run: true });
      const expected = [3, 2, 1].map((ago) => ({ key: null, scheduled_for: new Date(to - ago * hour).toISOString() }));
      assert.deepEqual([dry.status, dry.body], [200, { dry_run: true, missing: expected, items: [] }]);
      assert.deepEqual((await call('GET', '/jobs')).body.items, []);
      const run = await call('POST', '/schedules/hourly/backfill', range);
      assert.deepEqual([run.status, run.body.missing, run.body.items.length], [201, expected, 3]);
      const again = await call('POST', '/schedules/hourly/backfill', range);
      assert.deepEqual([again.body.missing, again.body.items], [[], []]);
      const { body: ledger } = await call('GET', '/schedules/hourly/ticks?kind=backfill');
      assert.equal(ledger.items.length, 3);
      const future = new Date(Date.now() + hour).toISOString();
      for (const wrong of [
        {},
        { ...range, to: range.from },
        { ...range, to: future },
        { ...range, from: '2000-01-01T00:00:00Z' },
      ]) {
        assert.equal((await call('POST', '/schedules/hourly/backfill', wrong)).status, 400, JSON.stringify(wrong));
      }
    }));

  test('ticks come by themselves, and GET /schedules/{name}/ticks lists them newest first, in pages', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', { ...FAST, overlap: 'allow' });
      const page = await eventually(async () => {
        const found = await call('GET', '/schedules/fast/ticks?limit=2');
        return found.body.next_cursor !== null && found.body;
      });
      const [newest, older] = page.items;
      assert.equal(Date.parse(newest.scheduled_for) - Date.parse(older.scheduled_for), 1_000);
      assert.deepEqual([newest.verdict, newest.kind, newest.count, newest.key], ['ran', 'tick', 1, null]);
      const { body: job } = await call('GET', `/jobs/${newest.job_id}`);
      assert.equal(job.tick.scheduled_for, newest.scheduled_for);
      const next = (await call('GET', `/schedules/fast/ticks?limit=2&cursor=${page.next_cursor}`)).body;
      assert.ok(next.items.every((tick: { id: string }) => Number(tick.id) < Number(older.id)));
      assert.deepEqual((await call('GET', '/schedules/fast/ticks?verdict=missed')).body.items, []);
      assert.equal((await call('GET', '/schedules/fast/ticks?verdict=no')).status, 400);
    }));

  test('POST /schedules/apply: adds, changes and removes, and only what the owner has', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', { ...NIGHTLY, name: 'foreign' });
      const apply = async (schedules: object[], more: object = {}) => {
        const { status, body } = await call('POST', '/schedules/apply', { owner: 'team', schedules, ...more });
        assert.equal(status, 200, JSON.stringify(body));
        return body.items.map(({ name, action, fields }: Record<string, unknown>) => [name, action, fields]);
      };
      const [a, b] = [
        { ...NIGHTLY, name: 'a' },
        { ...FAST, name: 'b' },
      ];
      assert.deepEqual(await apply([a, b], { dry_run: true }), [
        ['a', 'add', []],
        ['b', 'add', []],
      ]);
      assert.equal((await call('GET', '/schedules?owner=team')).body.items.length, 0);
      await apply([a, b]);
      assert.deepEqual(await apply([a, b]), [
        ['a', 'keep', []],
        ['b', 'keep', []],
      ]);
      await call('POST', '/schedules/a/pause', { note: 'n' });
      const changed = { ...a, cron: '0 3 * * *', job: { command: './report.sh', timeout: '1h', env: { A: 'b' } } };
      assert.deepEqual(await apply([changed]), [
        ['a', 'change', ['cron', 'job.timeout', 'job.env']],
        ['b', 'remove', []],
      ]);
      assert.deepEqual(await apply([{ ...changed, job: { ...changed.job, env: { A: 'c' } } }]), [
        ['a', 'change', ['job.env']],
      ]);
      const { body } = await call('GET', '/schedules/a');
      assert.deepEqual([body.cron, body.owner, body.paused_note], ['0 3 * * *', 'team', 'n'], 'a pause is kept');
      assert.equal((await call('GET', '/schedules/b')).status, 404);
      assert.deepEqual(await apply([]), [['a', 'remove', []]]);
      assert.equal((await call('GET', '/schedules/foreign')).status, 200);
    }));

  test('POST /schedules/apply: what is wrong with one changes nothing at all', () =>
    withServer(async ({ call }) => {
      await call('POST', '/schedules', { ...NIGHTLY, name: 'foreign' });
      const good = { ...NIGHTLY, name: 'good' };
      const wrong: [object[], number, string][] = [
        [[good, { ...NIGHTLY, name: 'foreign' }], 409, 'schedule_exists'],
        [[good, { ...NIGHTLY, name: 'bad', cron: '0 0 31 2 *' }], 400, 'schedule_invalid'],
        [[good, good], 400, 'bad_request'],
        [[good, { ...NIGHTLY, name: 'bad', owner: 'x' }], 400, 'bad_request'],
      ];
      for (const [schedules, status, code] of wrong) {
        const answer = await call('POST', '/schedules/apply', { owner: 'team', schedules });
        assert.deepEqual([answer.status, answer.body.code], [status, code]);
      }
      assert.deepEqual((await call('GET', '/schedules?owner=team')).body.items, []);
    }));
});
