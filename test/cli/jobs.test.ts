/** The command line against a real Workron: jobs from submission to their end. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { displayWidth } from '../../src/cli/output/table.ts';
import { type Called, callWorkron, plainEnvironment, startCall } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { startHttpProxy } from '../kit/http-proxy.ts';
import { PROGRAM } from '../kit/program.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

type Job = Record<string, unknown> & { id: string; status: string };

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
  return callHosted(args, { env: { WORKRON_URL: server.url } });
}

/** A call that must go well; what it printed, without the last newline. */
async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await workron(...args);
  assert.equal(code, 0, `workron ${args.join(' ')}: ${stderr}`);
  return stdout.replace(/\n$/, '');
}

test('jobs: says that a long command is cut, and job shows all of it', async () => {
  const command = `: ${'x'.repeat(5_000)} end`;
  const id = await given(command, { queue: 'long', delay: '1h' });
  const { stdout, stderr } = await workron('jobs', '--queue', 'long');
  assert.match(stdout, /x…\s/);
  assert.match(stderr, new RegExp(`workron job ${id}`));
  assert.deepEqual(JSON.parse(await ok('jobs', '--queue', 'long', '--json'))[0].cut, ['command']);
  assert.match(await ok('job', id), / end/);
});

/** A job for other commands to act on. */
async function given(command: string, fields: Record<string, unknown> = {}): Promise<string> {
  return (await api<Job>(server.url, '/jobs', { command, ...fields })).id;
}

async function ended(id: string): Promise<void> {
  await eventually(async () => !['scheduled', 'pending', 'running'].includes(await status(id)));
}

async function json<T = Job>(command: string, ...args: string[]): Promise<T> {
  return JSON.parse(await ok(command, '--json', ...args)) as T;
}

async function status(id: string): Promise<string> {
  return (await api<Job>(server.url, `/jobs/${id}`)).status;
}

describe('command line', { concurrency: 2 }, () => {
  test('rerun: a done job runs again with its environment, as a new job', async () => {
    const id = await given('echo "secret $SECRET"', { env: { SECRET: 'known' } });
    await ended(id);
    const { code, stderr } = await workron('retry', id);
    assert.deepEqual([code, /it is done; a rerun makes a new job of it/.test(stderr)], [5, true]);
    const [, again = ''] = /^submitted job (\d+), a rerun of job (\d+)$/.exec(await ok('rerun', id)) ?? [];
    assert.equal(await ok('wait', '-q', again), again);
    assert.equal(await ok('logs', again), 'secret known');
    assert.equal((await json('job', again))['rerun_of'], id);
    assert.equal((await workron('rerun', '999999')).code, 3);
  });

  test('submit --handler: a job of a handler, with its input', async () => {
    const job = await json('submit', '--handler', 'mail', '--input', '{"to":"x"}', '--queue', 'nobody');
    assert.deepEqual([job['handler'], job['input'], job['command']], ['mail', { to: 'x' }, null]);
    await ok('cancel', job.id);
    for (const [args, message] of [
      [['submit', '--handler', 'mail', '--', 'true'], /or --handler, not both/],
      [['submit', '--input', '1', '--', 'true'], /--input goes with --handler/],
      [['submit', '--handler', 'mail', '--input', '{'], /expected JSON/],
      [['submit'], /expected a command after --, --handler or --file/],
    ] as const) {
      const { code, stderr } = await workron(...args);
      assert.deepEqual([code, message.test(stderr)], [2, true], stderr);
    }
  });

  test('jobs --unique: lists the jobs of a unique key', async () => {
    const id = await given('true', { unique: { key: 'nightly-7' } });
    assert.equal(await ok('jobs', '-q', '--unique', 'nightly-7'), id);
  });

  test('edit --delay: the next attempt starts now', async () => {
    const id = await given('[ "$WORKRON_ATTEMPT" = 2 ]', { backoff: { type: 'fixed', base: '1h' } });
    await eventually(async () => (await status(id)) === 'scheduled');
    const { code, stderr } = await workron('retry', id);
    assert.deepEqual([code, /edit it with delay 0s/.test(stderr)], [5, true], stderr);
    await ok('edit', id, '--delay', '0s');
    await ok('wait', '-q', id);
  });

  test('files that cannot be read end with the code for a wrong command line', async () => {
    for (const args of [
      ['submit', '--file', 'nosuch.json'],
      ['apply', 'nosuch.yaml'],
      ['workflow', 'run', 'nosuch.yaml'],
    ]) {
      const { code, stderr } = await workron(...args);
      assert.deepEqual([code, /cannot read nosuch/.test(stderr)], [2, true], stderr);
    }
  });

  test('submit: prints the id, alone with -q, and the object of the API with --json', async () => {
    assert.match(await ok('submit', '--', 'true'), /^submitted job \d+$/);
    const id = await ok('submit', '-q', '--', 'true');
    assert.match(id, /^\d+$/);
    await ended(id);
    assert.deepEqual(await json('job', id), await api(server.url, `/jobs/${id}`));
  });

  test('submit: one argument is a shell line, several arrive as typed', async () => {
    const line = await ok('submit', '-q', '--', 'x="a  b"; echo "$x" | tr a-z A-Z');
    const words = await ok('submit', '-q', '--', 'printf', '[%s]', 'a  b', "it's", '$HOME', '', '-n', '--json');
    await ok('wait', line, words);
    assert.equal(await ok('logs', line), 'A  B');
    assert.equal(await ok('logs', words), "[a  b][it's][$HOME][][-n][--json]");
  });

  test('submit: the members of a gang start together, and know each other', async () => {
    const printed = await ok(
      'submit',
      '-q',
      '--gang',
      '3',
      '--',
      'echo $WORKRON_GANG_RANK/$WORKRON_GANG_SIZE $WORKRON_GANG_HOSTS',
    );
    const members = printed.split('\n');
    assert.equal(members.length, 3);
    await ok('wait', ...members);
    const outputs: string[] = [];
    for (const id of members) outputs.push(await ok('logs', id));
    const [host] = /\S+$/.exec(outputs[0] ?? '') ?? assert.fail();
    assert.deepEqual(outputs, [`0/3 ${host}`, `1/3 ${host}`, `2/3 ${host}`]);
    assert.equal(host.split(',').length, 3);
    assert.equal((await workron('submit', '--gang-spread', 'pack', '--', 'true')).code, 2);
    const tooLarge = ['submit', '--gang', '900', '--gang-min', '800', '--gang-fail-fast', '--', 'true'];
    const refused = await workron(...tooLarge);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /no places for at least 800 members of a gang, even when idle/);
    assert.equal((await workron('submit', '--gang', '2', '--gang-min', '3', '--', 'true')).code, 2);
    await ok('queues', 'set', 'gang-one', '--max-running', '1');
    const few = ['--queue', 'gang-one', '--gang', '3', '--gang-min', '1', '--gang-fail-fast'];
    const elastic = (await ok('submit', '-q', ...few, '--', 'true')).split('\n');
    const { gang } = (await json('job', elastic[0] ?? '')) as { gang: { min: number } };
    assert.equal(gang.min, 1);
    await ok('wait', elastic[0] ?? '');
    assert.match(await ok('why', elastic[2] ?? ''), /skipped.*its gang has succeeded without it/);
  });

  test('submit: every flag becomes a field of the job', async () => {
    const flags =
      '--name n --queue cli-flags -p -5 --run-at 2099-01-31T09:00:00Z --timeout 1h30m --start-timeout 7d --kill-grace 250ms ' +
      '--max-attempts 4 --backoff fixed:30s:1m --retry-on 1,2 --no-retry-on 3 --rerun never --on-disconnect finish ' +
      '--env A=1 --env B=x=y --cwd /tmp --tag t,u --tag v --requires gpu --resources memory_mb=512,gpu=1 ' +
      '--unique cli-key --unique-while pending --unique-on-conflict reject';
    const job = await json('submit', ...flags.split(' '), '--', 'true');
    const expected = {
      name: 'n',
      queue: 'cli-flags',
      priority: -5,
      run_at: '2099-01-31T09:00:00.000Z',
      timeout: 5_400_000,
      kill_grace: 250,
      max_attempts: 4,
      backoff: { type: 'fixed', base: 30_000, factor: 2, cap: 60_000, jitter: 0.2 },
      retry_on: [1, 2],
      no_retry_on: [3],
      rerun: 'never',
      on_disconnect: 'finish',
      env: ['A', 'B'],
      cwd: '/tmp',
      tags: ['t', 'u', 'v'],
      requires: ['gpu'],
      resources: { memory_mb: 512, gpu: 1 },
      status: 'scheduled',
    };
    for (const [field, value] of Object.entries(expected)) assert.deepEqual(job[field], value, field);
    assert.equal(
      (await workron('submit', '--unique', 'cli-key', '--unique-on-conflict', 'reject', '--', 'true')).code,
      5,
    );
    assert.equal(await ok('submit', '--unique', 'cli-key', '--', 'true'), `already there: job ${job.id} (scheduled)`);
  });

  test('submit: many jobs from a file or stdin, as an array or one a line; a bad one leaves nothing behind', async () => {
    const jobs = [
      { command: 'true', queue: 'cli-file', delay: '1h' },
      { command: 'false', queue: 'cli-file', delay: '1h' },
    ];
    const path = join(folder, 'jobs.json');
    await writeFile(path, JSON.stringify(jobs));
    assert.equal((await ok('submit', '-q', '--file', path)).split('\n').length, 2);
    const env = { WORKRON_URL: server.url };
    const input = jobs.map((job) => JSON.stringify(job)).join('\n');
    const lines = await callWorkron(['submit', '--json', '--file', '-'], { env, input });
    assert.deepEqual(
      (JSON.parse(lines.stdout) as Job[]).map((job) => job['command']),
      ['true', 'false'],
    );
    const bad = await callWorkron(['submit', '-f', '-'], { env, input: JSON.stringify([...jobs, { comand: 'x' }]) });
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, /comand.*did you mean command/);
    assert.equal((await json<Job[]>('jobs', '--queue', 'cli-file')).length, 4);
  });

  test('submit: the same idempotency key submits once', async () => {
    const args = ['submit', '-q', '--idempotency-key', 'cli-once', '--', 'true'];
    assert.equal(await ok(...args), await ok(...args));
    assert.equal((await workron('submit', '--idempotency-key', 'cli-once', '--', 'false')).code, 2);
  });

  test("run: the job's output on stdout, the job's code as exit code", async () => {
    const seven = await workron('run', '--', 'echo out; echo err >&2; exit 7');
    assert.deepEqual([seven.code, seven.stdout], [7, 'out\nerr\n']);
    // Jobs of other tests may have all slots at first, which it says after a second.
    const said = seven.stderr.replace(/^job \d+ waits for a free slot: .*\n/gm, '');
    assert.match(said, /^job \d+\njob \d+ failed: exit 7: err\n$/);
    assert.deepEqual(await workron('run', '-q', '--', 'printf', 'x'), { code: 0, stdout: 'x', stderr: '' });
    assert.equal((await workron('run', '--', 'kill -KILL $$')).code, 137);
    assert.equal((await workron('run', '--timeout', '300ms', '--kill-grace', '0s', '--', 'sleep 60')).code, 124);
    const told = await workron('run', '--json', '--', 'exit 3');
    const job = JSON.parse(told.stdout) as Job;
    assert.deepEqual([told.code, job.status, job['max_attempts']], [3, 'failed', 1]);
  });

  test('run: bytes that are no UTF-8 arrive as they are', async () => {
    const call = startCall(['run', '-q', '--', String.raw`printf '\377\376ok\303'`], {
      env: { WORKRON_URL: server.url },
    });
    const chunks: Buffer[] = [];
    call.stdout?.on('data', (data: Buffer) => chunks.push(data));
    assert.deepEqual(await once(call, 'close'), [0, null]);
    assert.equal(Buffer.concat(chunks).toString('hex'), 'fffe6f6bc3');
  });

  test('run: says why a command could not start, and what it waits for', async () => {
    const folderless = await workron('run', '--cwd', '/nonexistent', '--', 'pwd');
    assert.match(folderless.stderr, /job \d+ failed: .*working directory.*does not exist/);
    await ok('queues', 'pause', 'shut');
    const env = { WORKRON_URL: server.url };
    const waiting = startCall(['run', '--queue', 'shut', '--', 'true'], { env });
    let said = '';
    waiting.stderr?.on('data', (data: Buffer) => (said += data.toString()));
    await eventually(() => /waits for queue shut to be resumed/.test(said));
    assert.doesNotMatch(said, /standard input/);
    const closed = once(waiting, 'close');
    await ok('queues', 'resume', 'shut');
    assert.deepEqual(await closed, [0, null]);
  });

  test('run: a pipe or a file on standard input reaches the command byte for byte; anything else is left alone', async () => {
    const run = (line: string) => spawnSync('sh', ['-c', line], { cwd: folder, maxBuffer: 4 << 20 });
    const cat = `${PROGRAM} run -q --url ${server.url} -- cat`;
    const text = run(`printf 'one\\ntwo' | ${cat}`);
    assert.deepEqual([text.status, text.stdout.toString()], [0, 'one\ntwo'], text.stderr.toString());
    assert.equal(run(`printf 'a\\377\\000b' | ${cat}`).stdout.toString('hex'), '61ff0062');
    assert.equal(run(`yes x | head -c 500000 | ${cat}`).stdout.length, 500_000);
    await writeFile(join(folder, 'lines'), 'from a file\n');
    assert.equal(run(`${cat} < lines`).stdout.toString(), 'from a file\n');
    assert.equal(run(`${cat} < /dev/null`).stdout.toString(), '');
    const longCommand = `${cat.slice(0, -3)} "cat # ${'x'.repeat(110_000)}"`;
    assert.equal(
      run(`echo hi | ${longCommand}`).stdout.toString(),
      'hi\n',
      'with a command that is sourced from a file',
    );
    // The end of this input never comes.
    const open = startCall(['run', '-q', '--', 'echo left alone'], { env: { WORKRON_URL: server.url } });
    assert.deepEqual(await once(open, 'close'), [0, null]);
  });

  test('run: input that does not fit into a job is refused, and nothing is submitted', async () => {
    const newest = async () => (await api<{ items: Job[] }>(server.url, '/jobs?limit=1&name=too-large')).items;
    const run = (bytes: number) => {
      const line = `head -c ${bytes} /dev/zero | ${PROGRAM} run -q --name too-large --url ${server.url} -- cat`;
      return spawnSync('sh', ['-c', line], { encoding: 'utf8' });
    };
    const tooLarge = run(1024 * 1024 + 1);
    assert.equal(tooLarge.status, 2);
    assert.match(tooLarge.stderr, /standard input is larger than 1 MiB; nothing was submitted/);
    assert.equal(run(1024 * 1024 - 1).status, 2, 'in base64 it is larger than a job may be');
    assert.deepEqual(await newest(), []);
  });

  test('run: one Ctrl-C leaves the job alone, a second one cancels it', async () => {
    const env = { WORKRON_URL: server.url };
    const left = startCall(['run', '--', 'echo begun; sleep 600'], { env });
    let said = '';
    left.stderr?.on('data', (data: Buffer) => (said += data.toString()));
    await once(left.stdout as never, 'data');
    left.kill('SIGINT');
    assert.deepEqual(await once(left, 'exit'), [130, null]);
    const id = /^job (\d+)$/m.exec(said)?.[1] as string;
    assert.match(said, new RegExp(`workron logs -f ${id}`));
    assert.equal(await status(id), 'running');
    await api(server.url, `/jobs/${id}/cancel`, {});

    const cancelled = startCall(['run', '--', 'echo begun; sleep 600'], { env });
    let told = '';
    cancelled.stderr?.on('data', (data: Buffer) => (told += data.toString()));
    await once(cancelled.stdout as never, 'data');
    cancelled.kill('SIGINT');
    await eventually(() => told.includes('again to cancel'));
    cancelled.kill('SIGINT');
    assert.deepEqual(await once(cancelled, 'exit'), [130, null]);
    assert.equal(await status(/^job (\d+)$/m.exec(told)?.[1] as string), 'cancelled');
  });

  test('wait: the code of the first job that did not end well; 124 when it takes too long; 3 for an unknown one', async () => {
    const well = await given('true');
    const badly = await given('exit 9', { max_attempts: 1 });
    const waited = await workron('wait', well, badly);
    assert.deepEqual([waited.code, waited.stdout], [9, `job ${well} done\njob ${badly} failed: exit 9\n`]);
    assert.deepEqual(
      (await json<Job[]>('wait', well)).map((job) => job.id),
      [well],
    );
    const later = await given('true', { delay: '1h' });
    assert.equal((await workron('wait', later, '--timeout', '100ms')).code, 124);
    assert.equal((await workron('wait', '999999')).code, 3);
  });

  test('jobs: filters, limit over several pages, ids only, and the objects of the API', async () => {
    const names = ['cli-list-a', 'cli-list-b'];
    for (const name of names) await given('true', { name, queue: 'cli-list', tags: [name, 'x'], delay: '1h' });
    const ids = (await ok('jobs', '-q', '--queue', 'cli-list')).split('\n');
    assert.equal(ids.length, 2);
    assert.ok(Number(ids[0]) > Number(ids[1]), 'newest first');
    const { items } = await api<{ items: Job[] }>(server.url, '/jobs?queue=cli-list');
    assert.deepEqual(await json('jobs', '--queue', 'cli-list'), items);
    assert.equal(await ok('jobs', '-q', '--name', 'cli-list-a'), ids[1]);
    assert.equal(await ok('jobs', '-q', '--tag', 'x,cli-list-b'), ids[0]);
    assert.equal(await ok('jobs', '-q', '--queue', 'cli-list', '--status', 'done,failed'), '');
    assert.equal(await ok('jobs', '-q', '--queue', 'cli-list', '--since', '1h', '--search', 'LIST-B'), ids[0]);
    assert.equal(await ok('jobs', '-q', '--queue', 'cli-list', '--until', '1h'), '');
    assert.equal(await ok('jobs', '--queue', 'cli-none'), 'no jobs');
    const limited = await workron('jobs', '--queue', 'cli-list', '-n', '1');
    assert.match(limited.stderr, /showing 1; use --limit to see more/);
    assert.match(limited.stdout, /^ *ID +STATUS +JOB +QUEUE/);
    assert.match(limited.stdout, /\d+ +scheduled +cli-list-b +cli-list/);
  });

  test('jobs: a list in a pipe is neither cut nor coloured, and a reader may go away', async () => {
    const command = `echo ${'long '.repeat(80)}`;
    await given(command, { queue: 'cli-long', delay: '1h' });
    assert.ok((await ok('jobs', '--queue', 'cli-long')).includes(command.trim()));
    const env = { WORKRON_URL: server.url };
    const call = startCall(['jobs', '--watch'], { env });
    let errors = '';
    call.stderr?.on('data', (data: Buffer) => (errors += data.toString()));
    await once(call.stdout as never, 'data');
    const exited = once(call, 'exit');
    call.stdout?.destroy();
    await given('true', { queue: 'cli-long', delay: '1h' });
    assert.deepEqual([await exited, errors], [[0, null], '']);
  });

  test('jobs: a watch waits for a server that goes away, and says so; one that was never there is an error', async () => {
    await using proxy = await startHttpProxy(server.url);
    const call = startCall(['jobs', '--watch', '--queue', 'cli-watch'], { env: { WORKRON_URL: proxy.url } });
    // A watch that is left behind would keep this file from ending.
    using _ = { [Symbol.dispose]: () => void call.kill('SIGKILL') };
    let [printed, errors] = ['', ''];
    call.stdout?.on('data', (data: Buffer) => (printed += data.toString()));
    call.stderr?.on('data', (data: Buffer) => (errors += data.toString()));
    await eventually(() => printed !== '');
    proxy.judge = () => 'lose request';
    await eventually(() => errors !== '');
    const id = await given('true', { queue: 'cli-watch', delay: '1h' });
    proxy.judge = () => 'pass';
    await eventually(() => new RegExp(`^ *${id} +scheduled`, 'm').test(printed));
    assert.match(errors, /^cannot connect to Workron at .*; trying again\n$/);
    call.kill('SIGKILL');
    await once(call, 'exit');
    const nobody = await callWorkron(['jobs', '--watch'], { env: { WORKRON_URL: 'http://127.0.0.1:9' } });
    assert.deepEqual([nobody.code, nobody.stdout], [6, '']);
  });

  test('submit: each wrong field is named by its flag', async () => {
    const { code, stderr } = await workron('submit', '--priority', '99999', '--env', 'A B=1', '--', 'true');
    assert.equal(code, 2);
    assert.match(stderr, /^error: --priority: expected .*\n {7}--env A B: expected .*\n$/);
  });

  test('jobs: says what pending jobs wait for that nobody can run, and chooses columns and formats', async () => {
    const id = await given('true', { queue: 'cli-nobody', requires: ['gpu'] });
    assert.match(await ok('jobs', '--queue', 'cli-nobody'), /waits for a worker with tag gpu: none is online$/);
    const columns = await ok('--columns=id', 'jobs', '--queue', 'cli-nobody').catch(() => null);
    assert.equal(columns, null, 'only global flags may come first');
    assert.equal(await ok('-q', 'jobs', '--queue', 'cli-nobody'), id);
    assert.equal(
      await ok('jobs', '--queue', 'cli-nobody', '--columns', 'id,queue'),
      `${'ID'.padStart(id.length)}  QUEUE\n${id.padStart(2)}  cli-nobody`,
    );
    assert.match(await ok('jobs', '--queue', 'cli-nobody', '-o', 'yaml'), new RegExp(`^- id: "${id}"\n`));
    assert.match(await ok('jobs', '--queue', 'cli-nobody', '-o', 'wide'), / WORKER {2}BY {2}FROM {2}TAGS {2}NOTE\n/);
    assert.equal((await workron('jobs', '--json', '-o', 'yaml')).code, 2);
    await ok('cancel', id);
  });

  test('queues: a change says that it made a queue', async () => {
    await given('true', { queue: 'cli-mail', delay: '1h' });
    const { stderr } = await workron('queues', 'pause', 'cli-mial');
    assert.equal(stderr, 'queue cli-mial is new; did you mean cli-mail? (workron queues rm cli-mial deletes it)\n');
    assert.equal((await workron('queues', 'resume', 'cli-mial')).stderr, '');
    await ok('queues', 'rm', 'cli-mial');
  });

  test('logs: of several jobs, each line has its id', async () => {
    const ids = [await given('echo one; printf two'), await given('echo three')] as const;
    for (const id of ids) await ended(id);
    const width = Math.max(...ids.map((id) => id.length));
    const [a, b] = ids.map((id) => id.padStart(width));
    assert.equal(await ok('logs', ...ids), `${a} | one\n${a} | two\n${b} | three`);
    const followed = (await ok('logs', '-f', ...ids)).split('\n').toSorted();
    assert.deepEqual(followed, [`${a} | one`, `${a} | two`, `${b} | three`].toSorted());
    assert.equal((await workron('logs', ids[0], '999999')).code, 3);
  });

  test('jobs, cancel: take a typed filter, and show where it is wrong', async () => {
    const [first, second] = [
      await given('true', { queue: 'cli-typed', tags: ['eu'], delay: '1h' }),
      await given('true', { queue: 'cli-typed', delay: '1h' }),
    ];
    assert.equal(await ok('jobs', '-q', 'queue:cli-typed'), `${second}\n${first}`);
    assert.equal(await ok('jobs', '-q', 'queue:cli-typed', 'tag:eu status:scheduled,failed since:1h'), first);
    const { code, stderr } = await workron('jobs', 'queue:cli-typed staus:failed');
    assert.equal(code, 2);
    assert.equal(
      stderr,
      'error: filter: unknown key "staus"; did you mean status?\nqueue:cli-typed staus:failed\n                ^^^^^\n',
    );
    assert.equal(await ok('cancel', 'queue:cli-typed tag:eu', '--dry-run'), '1 job matches');
    assert.equal(await ok('cancel', 'queue:cli-typed'), 'cancelled 2 jobs');
  });

  test('job and why: describe the state of a job', async () => {
    const waiting = await given('true', { queue: 'cli-why', delay: '1h' });
    assert.match(await ok('why', waiting), new RegExp(`^job ${waiting} is scheduled for \\d{4}-`));
    const failed = await given('echo oh no; exit 4', { name: 'sad', max_attempts: 1 });
    await ended(failed);
    assert.equal(await ok('why', failed), `job ${failed} failed: exit 4: oh no`);
    const late = await given('sleep 60', { timeout: '100ms', max_attempts: 1 });
    await ended(late);
    assert.equal(await ok('why', late), `job ${late} failed: timed out after 100ms (raise it with --timeout)`);
    const held = await given('true', { requires: ['nosuch'] });
    assert.equal(
      await ok('why', held),
      `job ${held} is pending: it waits for a worker with tag nosuch: none is online`,
    );
    await ok('cancel', held);
    assert.equal(await ok('why', held), `job ${held} was cancelled`);
    const shown = await ok('job', failed);
    assert.match(shown, /^name +sad$/m);
    assert.match(shown, /^error +exit 4\n +oh no$/m);
    assert.match(shown, /^ +1 +failed +4 /m);
    assert.equal((await workron('job', '999999')).code, 3);
  });

  test('job: what a job prints cannot command the terminal', async () => {
    const id = await given("printf '\\033[2Jgone\\007'; exit 1", { max_attempts: 1 });
    await ended(id);
    assert.ok(!(await ok('job', id)).includes('\u001b'));
    assert.equal(await ok('logs', id), '\u001b[2Jgone\u0007');
  });

  test('logs: all, the last lines, one attempt, and on to the end', async () => {
    const command = 'echo "try $WORKRON_ATTEMPT"; echo two; echo three; exit 1';
    const id = await given(command, { max_attempts: 2, backoff: { type: 'none' } });
    await ended(id);
    assert.equal(await ok('logs', id), 'try 2\ntwo\nthree');
    assert.equal(await ok('logs', id, '--attempt', '1'), 'try 1\ntwo\nthree');
    assert.equal(await ok('logs', id, '--tail', '2'), 'two\nthree');
    assert.equal(await ok('logs', id, '-f', '--tail', '1'), 'three');
    for (const flags of [[], ['-f']]) {
      const stamped = await ok('logs', id, '--timestamps', '--tail', '2', ...flags);
      assert.match(stamped, /^\d{4}-\d\d-\d\dT[\d:.]+Z two\n\d{4}-\d\d-\d\dT[\d:.]+Z three$/);
    }
    assert.equal((await workron('logs', id, '--attempt', '3')).code, 3);
    const live = await given('for i in 1 2 3; do echo $i; sleep 0.2; done');
    assert.equal(await ok('logs', '-f', live), '1\n2\n3');
  });

  test('cancel: a waiting job at once, a running one by stopping it, others by their exit code', async () => {
    const waiting = await given('true', { delay: '1h' });
    assert.equal(await ok('cancel', waiting), `job ${waiting} cancelled`);
    const running = await given('sleep 600');
    await eventually(async () => (await status(running)) === 'running');
    assert.equal((await json('cancel', running)).status, 'running');
    assert.equal((await workron('wait', running)).code, 125);
    assert.equal(await status(running), 'cancelled');
    const mixed = await workron('cancel', '999999', await given('true', { delay: '1h' }));
    assert.equal(mixed.code, 3);
    assert.match(mixed.stdout, /^job \d+ cancelled\n$/);
  });

  test('retry: a failed job runs again, a done one is a conflict', async () => {
    const id = await given('test $WORKRON_ATTEMPT = 2', { max_attempts: 1 });
    await ended(id);
    assert.equal(await status(id), 'failed');
    assert.match(await ok('retry', id), new RegExp(`^job ${id} is \\w+ again$`));
    await ended(id);
    assert.equal(await status(id), 'done');
    assert.equal((await workron('retry', id)).code, 5);
  });

  test('cancel and retry: all that match, after a look at how many that are', async () => {
    const jobs = Array.from({ length: 3 }, () => ({ command: 'true', queue: 'cli-bulk', delay: '1h' }));
    await api(server.url, '/jobs', jobs);
    assert.equal(await ok('cancel', '--queue', 'cli-bulk', '--dry-run'), '3 jobs match');
    assert.equal((await json<Job[]>('jobs', '--queue', 'cli-bulk', '--status', 'scheduled')).length, 3);
    assert.equal(await ok('cancel', '--queue', 'cli-bulk'), 'cancelled 3 jobs');
    const operation = await json('retry', '--queue', 'cli-bulk', '--status', 'cancelled');
    assert.deepEqual([operation.status, operation['changed']], ['done', 3]);
    assert.equal((await workron('cancel', '1', '--queue', 'cli-bulk')).code, 2);
  });

  test('edit: changes a job that waits; one that has ended is a conflict', async () => {
    const id = await given('true', { delay: '1h' });
    const edited = await json(
      'edit',
      id,
      '--priority',
      '-7',
      '--queue',
      'cli-edit',
      '--tag',
      'a,b',
      '--timeout',
      '2m',
      '--max-attempts',
      '9',
      '--run-at',
      '2098-01-01T00:00:00Z',
    );
    assert.deepEqual(
      [
        edited['priority'],
        edited['queue'],
        edited['tags'],
        edited['timeout'],
        edited['max_attempts'],
        edited['run_at'],
      ],
      [-7, 'cli-edit', ['a', 'b'], 120_000, 9, '2098-01-01T00:00:00.000Z'],
    );
    await api(server.url, `/jobs/${id}/cancel`, {});
    assert.equal((await workron('edit', id, '--priority', '1')).code, 5);
  });

  test('jobs rm: deletes ended jobs by id, and by filter only if somebody agrees', async () => {
    const [first, ...others] = await Promise.all(
      Array.from({ length: 4 }, () => given('true', { queue: 'cli-rm', delay: '1h' })),
    );
    const refused = await workron('jobs', 'rm', first ?? '');
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /it is scheduled; only ended jobs can be deleted/);
    for (const id of [first, ...others]) await api(server.url, `/jobs/${id}/cancel`, {});
    assert.equal(await ok('jobs', 'rm', first ?? ''), `job ${first} is deleted`);
    assert.equal((await workron('job', 'rm', first ?? '')).code, 3);

    assert.equal(await ok('jobs', 'rm', 'queue:cli-rm', '--dry-run'), '3 jobs match');
    const unasked = await workron('jobs', 'rm', 'queue:cli-rm');
    assert.deepEqual([unasked.code, unasked.stdout], [2, '']);
    assert.match(unasked.stderr, /expected --yes, since nobody can be asked/);
    const lost = await workron('jobs', '--name', 'x', 'rm', 'queue:cli-rm', '--yes');
    assert.deepEqual([lost.code, lost.stderr], [2, 'error: put --name after jobs rm\n']);
    assert.equal((await workron('jobs', 'rm', '--limit', '1', 'queue:cli-rm', '--yes')).code, 2, 'not a flag of rm');
    assert.equal(await ok('jobs', 'ls', '-q', 'queue:cli-rm'), others.toReversed().join('\n'));
    assert.equal(await ok('jobs', 'rm', '--queue', 'cli-rm', '--yes'), 'deleted 3 jobs');
    assert.equal(await ok('jobs', 'ls', 'queue:cli-rm'), 'no jobs');
  });

  test('jobs show and job show are job', async () => {
    const id = await given('true', { queue: 'cli-verbs', delay: '1h' });
    const shown = await ok('job', id, '--json');
    for (const words of [['jobs', 'show'], ['job', 'show'], ['show']]) {
      assert.equal((JSON.parse(await ok(...words, id, '--json')) as Job).id, (JSON.parse(shown) as Job).id);
    }
    for (const noun of ['queues', 'workers', 'limits', 'tokens']) {
      assert.equal((await workron(noun, 'ls')).code, 0, noun);
    }
    assert.ok((await ok('queues', 'ls', '-q')).split('\n').includes('cli-verbs'));
  });

  test('a terminal: icons, colours and a list cut to its width', async () => {
    await given(`echo ${'wide '.repeat(60)}`, { queue: 'cli-tty', delay: '1h' });
    const line = `stty cols 60; ${PROGRAM} jobs --queue cli-tty`;
    const { spawn } = await import('node:child_process');
    const { text } = await import('node:stream/consumers');
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      env: plainEnvironment({ WORKRON_URL: server.url, TERM: 'xterm' }),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const shown = await text(child.stdout);
    assert.match(shown, /◷ scheduled/);
    assert.ok(shown.includes('\u001b['));
    assert.match(shown, /…/);
    const lines = stripVTControlCharacters(shown).split(/\r?\n/);
    assert.deepEqual(
      lines.filter((each) => displayWidth(each) > 60),
      [],
    );
  });
});

test('steps: lists the steps of a durable function, and why says what it waits for', async () => {
  const { id } = await api<Job>(server.url, '/jobs', { handler: 'durable', queue: 'durable' });
  const registration = { name: 'durable', handlers: ['durable'] };
  const { worker_id: worker } = await api<{ worker_id: string }>(server.url, '/workers/register', registration);
  const offer = { worker_id: worker, queues: ['durable'], handlers: ['durable'], commands: false, steps: true };
  await api(server.url, '/jobs/claim', offer);
  const lease = { job_id: id, attempt: 1 };
  const items = [
    { ...lease, name: 'charge', kind: 'step', result: { id: 7 } },
    {
      ...lease,
      name: '["page",3]',
      kind: 'step',
      thrown: { name: 'Error', message: 'no page', code: null, details: null, causes: [] },
    },
    { ...lease, name: 'nap', kind: 'sleep', wait: '2d' },
  ];
  await api(server.url, `/workers/${worker}/steps`, { items });
  const outcome = { type: 'suspended', awaits: ['nap'] };
  await api(server.url, `/workers/${worker}/settle`, { items: [{ ...lease, outcome }] });
  const [charge, page, nap] = (await ok('steps', id)).split('\n');
  assert.match(charge ?? '', /step charge: \{"id":7\}$/);
  assert.match(page ?? '', /step \["page",3\]: failed: no page$/);
  assert.match(nap ?? '', /sleep nap: waits until /);
  assert.equal(JSON.parse(await ok('steps', id, '--json')).length, 3);
  assert.match(await ok('why', id), /waits for its sleep nap until /);
  assert.equal((await workron('steps', '999999')).code === 0, false);
});
