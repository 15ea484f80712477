/** The command line against a real Workron: schedules. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Called } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const stack = new AsyncDisposableStack();
let server: WorkronProcess;
let folder: string;

before(async () => {
  folder = stack.use(await temporaryFolder()).path;
  const args = ['up', '--port', '0', '--workers', '4', '--db-url', join(folder, 'jobs.db'), '--log-level', 'warn'];
  server = stack.use(await startWorkron({ args }));
});
after(() => stack.disposeAsync());

function workron(...args: string[]): Promise<Called> {
  return callHosted(args, { env: { WORKRON_URL: server.url }, cwd: folder });
}

async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await workron(...args);
  assert.equal(code, 0, `workron ${args.join(' ')}: ${stderr}`);
  return stdout.replace(/\n$/, '');
}

async function json<T>(...args: string[]): Promise<T> {
  return JSON.parse(await ok(...args, '--json')) as T;
}

describe('schedule commands', { concurrency: 2 }, () => {
  test('add, show, edit, rm: a schedule from the command line', async () => {
    const flags = ['--cron', '0 2 * * *', '--timezone', 'Europe/Berlin', '--timeout', '10m'];
    const added = await ok('schedule', 'add', 'nightly', ...flags, '--notify', 'failed=mail', '--', 'echo', "it's");
    assert.match(added, /^added schedule nightly: At 02:00, Europe\/Berlin; next run \d{4}-/);
    const shown = await ok('schedule', 'show', 'nightly');
    assert.match(
      shown,
      /^nightly {2}active\nwhen {8}At 02:00, Europe\/Berlin {2}0 2 \* \* \*\nruns {8}echo 'it'\\''s'\n/,
    );
    assert.match(shown, /notify {6}failed → mail\n/);
    assert.match(shown, /\n\nEUROPE\/BERLIN +UTC\n/);
    assert.match(
      await ok('schedule', 'edit', 'nightly', '--every', '1h', '--owner', 'me'),
      /^changed .*: Every 1h; next/,
    );
    const edited = await json<Record<string, unknown>>('schedule', 'show', 'nightly');
    assert.deepEqual([edited['cron'], edited['every'], edited['owner']], [null, 3_600_000, 'me']);
    assert.equal(await ok('schedule', 'edit', 'nightly', '--owner', 'none', '-q'), 'nightly');
    assert.equal(await ok('schedule', 'rm', 'nightly'), 'schedule nightly is deleted');
    const { code, stderr } = await workron('schedule', 'show', 'nightly');
    assert.deepEqual([code, /No schedule/.test(stderr)], [3, true]);
  });

  test('edit: what is not given stays, a field of the job changes alone, and none sets the default', async () => {
    const job = ['--timeout', '10m', '--queue', 'reports', '--priority', '7', '--env', 'A=1', '--start-timeout', '1h'];
    await ok('schedule', 'add', 'kept', '--cron', '0 2 * * *', '--jitter', '10m', ...job, '--', 'echo one');
    const after = async (...change: string[]) => {
      const shown = await ok('schedule', 'edit', 'kept', '--json', ...change);
      const edited = JSON.parse(shown) as { job: Record<string, unknown>; jitter: number };
      const { command, queue, priority, timeout, env, start_timeout } = edited.job;
      return [command, queue, priority, timeout, env, start_timeout, edited.jitter];
    };
    const next = await json<{ items: { utc: string; starts_at: string }[] }>('schedule', 'next', 'kept', '-n', '2');
    const delays = next.items.map(({ utc, starts_at }) => Date.parse(starts_at) - Date.parse(utc));
    assert.ok(delays[0] === delays[1] && (delays[0] ?? 0) > 0 && (delays[0] ?? 0) < 600_000, delays.join(' '));
    assert.match(await ok('schedule', 'next', 'kept'), /^UTC +STARTS\n/);
    const tail = [['A'], 3_600_000, 600_000];
    assert.deepEqual(await after('--', 'echo two'), ['echo two', 'reports', 7, 600_000, ...tail]);
    assert.deepEqual(await after('--timeout', '20m'), ['echo two', 'reports', 7, 1_200_000, ...tail]);
    const cleared = ['--jitter', 'none', '--start-timeout', 'none', '--timezone', 'none', '--priority', 'none'];
    assert.deepEqual(await after(...cleared), ['echo two', 'reports', 0, 1_200_000, ['A'], null, 0]);
    assert.deepEqual(await after('--env', 'B=2', '--queue', 'none'), [
      'echo two',
      'none',
      0,
      1_200_000,
      ['A', 'B'],
      null,
      0,
    ]);
    await ok('schedule', 'rm', 'kept');
  });

  test('edit: the input of a handler changes alone, and a new schedule needs both', async () => {
    await ok('schedule', 'add', 'handled', '--every', '1h', '--handler', 'mail', '--input', '{"to":"a"}');
    const edited = await json<{ job: Record<string, unknown> }>('schedule', 'edit', 'handled', '--input', '{"to":"b"}');
    assert.deepEqual([edited.job['handler'], edited.job['input']], ['mail', { to: 'b' }]);
    const refused = await workron('schedule', 'add', 'lone', '--every', '1h', '--input', '1', '--', 'true');
    assert.deepEqual([refused.code, /--input goes with --handler/.test(refused.stderr)], [2, true]);
    await ok('schedule', 'rm', 'handled');
  });

  test('add: several --cron are one schedule, and other flags given twice are refused', async () => {
    const cron = ['--cron', '0 2 * * *', '--cron', '0 14 * * *'];
    assert.match(await ok('schedule', 'add', 'twice', ...cron, '--', 'true'), /At 02:00; At 14:00, UTC/);
    await ok('schedule', 'rm', 'twice');
    for (const args of [
      ['schedule', 'add', 'x', ...cron, '--timezone', 'UTC', '--timezone', 'Europe/Berlin', '--', 'true'],
      ['schedule', 'edit', 'x', '--jitter', '1m', '--jitter=2m'],
      ['submit', '--queue', 'a', '--queue', 'b', '--', 'true'],
      ['jobs', '--limit', '1', '-n', '2'],
      ['jobs', '--url', server.url, '--url', server.url],
    ]) {
      const { code, stderr } = await workron(...args);
      assert.equal(code, 2, args.join(' '));
      assert.match(stderr, /--(timezone|jitter|queue|limit|url) was given twice: expected one value/);
    }
    await ok('submit', '--tag', 'a', '--tag', 'b', '--env', 'A=1', '--env', 'B=2', '--', 'true');
  });

  test('add: what cannot be right is refused before or by the server', async () => {
    const wrong: [string[], number, RegExp][] = [
      [['add', 'x', '--', 'true'], 2, /exactly one of --cron and --every/],
      [['add', 'x', '--cron', '@daily'], 2, /expected a command after --/],
      [['add', 'x', '--cron', '0 0 31 2 *', '--', 'true'], 2, /never fires/],
      [['add', 'X', '--cron', '@daily', '--', 'true'], 2, /expected a name/],
      [['add', 'x', '--cron', '@daily', '--notify', 'faild=x', '--', 'true'], 2, /failed/],
      [
        ['add', 'x', '--cron', '@daily', '--notify', 'slow=x', '--', 'true'],
        2,
        /expected a duration, such as slow:10m/,
      ],
      [['add', 'x', '--cron', '@daily', '--notify', 'done,slow:soon=x', '--', 'true'], 2, /expected a duration/],
      [['edit', 'x'], 2, /something to change/],
      [['edit', 'x', '--workflow', 'w.yaml', '--timeout', '5m'], 2, /a job has --timeout, a workflow has none/],
      [['backfill', 'x'], 2, /--from/],
      [['rm', 'x', 'y'], 3, /No schedule "?x/],
    ];
    await Promise.all(
      wrong.map(async ([args, code, message]) => {
        const called = await workron('schedule', ...args);
        assert.equal(called.code, code, args.join(' '));
        assert.match(called.stderr, message);
      }),
    );
  });

  test('ls, show, ticks: a schedule whose runs fail says so', async () => {
    const job = { command: 'exit 1', max_attempts: 1 };
    await api(server.url, '/schedules', { name: 'sad', every: '1h', overlap: 'allow', job });
    for (const run of ['first', 'second']) assert.match(await ok('schedule', 'run', 'sad'), /^started job/, run);
    await eventually(async () => /\nsad +active .* failed +0\/2 /.test(await ok('schedule', 'ls', 'sad')));
    assert.match(await ok('schedule', 'show', 'sad'), /^recent {6}0 of 2 runs succeeded$/m);
    assert.equal((await ok('schedule', 'ticks', 'sad')).match(/ started +failed /g)?.length, 2);
    await api(server.url, '/schedules/sad', undefined, 'DELETE');
  });

  test('ls, next, ticks, pause, resume, run: a schedule at work', async () => {
    await api(server.url, '/schedules', { name: 'beat', every: '1s', overlap: 'allow', job: { command: 'true' } });
    const ticks = async () => (await api<{ items: unknown[] }>(server.url, '/schedules/beat/ticks')).items.length;
    await eventually(async () => (await ticks()) > 1);
    assert.ok((await ok('schedule', 'ticks', 'beat', '-q')).split('\n').length > 1);
    const ledger = await ok('schedule', 'ticks', 'beat');
    assert.match(
      ledger,
      /^SCHEDULED FOR +TICK +OUTCOME +TOOK +FIRES +KEY +KIND +LATE +RUN\n\S+Z +started +\w+ .*tick +\S+ +job \d+/,
    );
    assert.equal(await ok('schedule', 'pause', 'beat', '--note', 'enough'), 'schedule beat is paused');
    assert.match(await ok('schedule', 'ls', 'bea'), /\nbeat +paused +Every 1s +– /);
    assert.match(await ok('schedule', 'show', 'beat'), /\npaused {6}\S+: enough\n/);
    assert.match(await ok('schedule', 'run', 'beat'), /^started job \d+$/);
    assert.match(await ok('schedule', 'resume', 'beat'), /^schedule beat goes on, next run /);
    assert.equal((await ok('schedule', 'next', 'beat', '-n', '3', '-q')).split('\n').length, 3);
    await api(server.url, '/schedules/beat', undefined, 'DELETE');
  });

  test('backfill: --dry-run lists, then they run', async () => {
    const job = { command: 'true' };
    await api(server.url, '/schedules', { name: 'hourly', cron: '0 * * * *', overlap: 'allow', job });
    const dry = await workron('schedule', 'backfill', 'hourly', '--from', '3h', '--dry-run');
    assert.equal(dry.stdout.trim().split('\n').length, 3);
    assert.match(dry.stderr, /3 ticks have no run/);
    assert.equal((await ok('schedule', 'backfill', 'hourly', '--from', '3h', '-q')).split('\n').length, 3);
    assert.equal(await ok('schedule', 'backfill', 'hourly', '--from', '3h'), 'nothing to run');
    assert.match(await ok('schedule', 'backfill', 'hourly', '--from', '5h'), /^started 2 runs: jobs \d+, \d+$/);
    assert.match(await ok('schedule', 'ticks', 'hourly'), / started .* backfill +– +job \d+$/m);
  });

  test('run --follow: prints the output and exits with the code of the job; a workflow is followed, too', async () => {
    await ok('schedule', 'add', 'followed', '--every', '1h', '--max-attempts', '1', '--', 'echo seen; exit 7');
    const { code, stdout, stderr } = await workron('schedule', 'run', 'followed', '-f');
    assert.deepEqual([code, stdout], [7, 'seen\n']);
    assert.match(stderr, /^job \d+\njob \d+ failed: exit 7: seen\n$/);
    await writeFile(join(folder, 'two.yaml'), 'name: two\nsteps: {a: {command: "true"}}\n');
    await ok('schedule', 'add', 'flow', '--every', '1h', '--workflow', './two.yaml');
    assert.match(await ok('schedule', 'run', 'flow', '--follow'), /^workflow \d+ done, after /m);
    await ok('schedule', 'add', 'keys', '--every', '1h', '--for-each', 'a,b', '--', 'true');
    const many = await workron('schedule', 'run', 'keys', '-f');
    assert.deepEqual([many.code, /--follow is for a single run/.test(many.stderr)], [0, true]);
    await ok('schedule', 'rm', 'followed', 'flow', 'keys');
  });

  test('import crontab --apply: makes the schedules, and nothing the second time', async () => {
    const input = 'SHELL=/bin/bash\n0 3 * * * /opt/backup.sh >> /var/log/backup.log 2>&1\n@reboot x\n';
    const call = () => callHosted(['import', 'crontab', '-', '--apply'], { env: { WORKRON_URL: server.url }, input });
    const first = await call();
    assert.deepEqual(
      [first.code, first.stdout],
      [0, '+ add    backup\ncrontab: 1 added, 0 changed, 0 removed, 0 unchanged\n'],
    );
    assert.match(first.stderr, /^line 3 is not imported: @reboot.*\nline 2 writes.*\ncron still runs these lines, too/);
    assert.equal((await call()).stdout, 'crontab: 0 added, 0 changed, 0 removed, 1 unchanged\n');
    const { overlap, catchup, job } = await json<{ overlap: string; catchup: object; job: object }>(
      'schedule',
      'show',
      'backup',
    );
    assert.deepEqual([overlap, catchup], ['allow', { policy: 'none', window: 3_600_000, max: 10 }]);
    assert.partialDeepStrictEqual(job, {
      cwd: homedir(),
      timeout: 86_400_000,
      max_attempts: 1,
      env: ['PATH', 'SHELL'],
    });
    await ok('schedule', 'rm', 'backup');
  });

  test('apply: prints its plan and does it, and nothing the second time', async () => {
    const file = join(folder, 'schedules.yaml');
    const two =
      'schedules:\n  - {name: one, every: 1h, job: {command: a}}\n  - {name: two, every: 1h, job: {command: b}}\n';
    await writeFile(file, two);
    assert.equal(
      await ok('apply', file, '--dry-run'),
      '+ add    one\n+ add    two\nschedules.yaml: 2 to add, 0 to change, 0 to remove, 0 unchanged',
    );
    assert.match(await ok('apply', file), /schedules.yaml: 2 added, 0 changed, 0 removed, 0 unchanged$/);
    assert.equal(await ok('apply', file), 'schedules.yaml: 0 added, 0 changed, 0 removed, 2 unchanged');
    await writeFile(file, 'schedules:\n  - {name: one, every: 2h, job: {command: a, timeout: 1m}}\n');
    assert.equal(
      await ok('apply', file),
      '~ change one  (every, job.timeout)\n- remove two\nschedules.yaml: 0 added, 1 changed, 1 removed, 0 unchanged',
    );
    const other = await workron('apply', file, '--owner', 'somebody');
    assert.deepEqual([other.code, /belongs to "schedules.yaml"/.test(other.stderr)], [5, true]);
    const steps = '{name: w, steps: [{key: a, command: x, depends_on: b}]}';
    await writeFile(file, `schedules:\n  - name: three\n    every: 1h\n    workflow: ${steps}\n`);
    const { code, stderr } = await workron('apply', file);
    assert.equal(code, 2);
    assert.match(stderr, /schedules.yaml:4:\d+ error: .*\n.*\n.*\nerror: .*nothing was changed/);
    assert.equal((await json<unknown[]>('schedule', 'ls', '--owner', 'schedules.yaml')).length, 1);
  });
});
