/** The command line against a real Workron: queues, workers, status, tokens, backups, start-up. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { routes } from '../../src/api/routes.ts';
import { lateWaits, worriesNow } from '../../src/cli/commands/worries.ts';
import { Connection } from '../../src/cli/connection.ts';
import { type Called, callWorkron } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { startHttpProxy } from '../kit/http-proxy.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

interface Setup extends AsyncDisposable {
  server: WorkronProcess;
  folder: string;
  workron: (...args: string[]) => Promise<Called>;
}

/** A server of the test's own, on a free port and a fresh file. */
async function setUp(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Setup> {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  const store = args.some((arg) => arg.startsWith('--db-')) ? [] : ['--db-url', join(folder, 'workron.db')];
  const start = { args: ['up', '--port', '0', '--log-level', 'warn', ...store, ...args], env, cwd: folder };
  const server = stack.use(await startWorkron(start));
  return {
    server,
    folder,
    workron: (...words) => callHosted(words, { env: { WORKRON_URL: server.url }, cwd: folder }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

interface Job {
  id: string;
  status: string;
}

/** A job for other commands to act on. */
async function given({ server }: Setup, command: string, fields: Record<string, unknown> = {}): Promise<string> {
  return (await api<Job>(server.url, '/jobs', { command, ...fields })).id;
}

async function hasStatus({ server }: Setup, id: string, wanted: string): Promise<void> {
  await eventually(async () => (await api<Job>(server.url, `/jobs/${id}`)).status === wanted);
}

/** The id of its own worker, once that is there. */
async function workerOf({ server }: Setup): Promise<string> {
  return await eventually(async () => (await api<{ items: Job[] }>(server.url, '/workers')).items[0]?.id);
}

async function nameOf({ server }: Setup, id: string): Promise<string | undefined> {
  const { items } = await api<{ items: { id: string; name: string }[] }>(server.url, '/workers');
  return items.find((worker) => worker.id === id)?.name;
}

/** For tests that do not mind others. */
let shared: Setup;
before(async () => {
  shared = await setUp(['--workers', '2']);
});
after(() => shared[Symbol.asyncDispose]());

describe('command line', { concurrency: 2 }, () => {
  test('status: needs attention while jobs wait and no worker is online; a paused queue waits for a person', async () => {
    await using setup = await setUp(['--role', 'api,scheduler', '--db-driver', 'memory']);
    const { server, workron } = setup;
    assert.equal((await workron('status')).code, 0, 'nothing waits');
    await given(setup, 'true');
    const told = await workron('status');
    assert.equal(told.code, 1);
    assert.match(told.stdout, /^needs attention[^]*\nproblem: No worker is online, and 1 job waits \(oldest /);
    await workron('queues', 'pause', 'default');
    assert.equal((await workron('status')).code, 0);
    assert.match(server.output(), /worker --scheduler http/, 'the banner does not suggest a command that waits');
  });

  test('status: jobs that have waited for long for a worker that is not there are a problem', async () => {
    await using setup = await setUp(['--db-driver', 'memory']);
    const { url } = setup.server;
    await workerOf(setup);
    for (const queue of ['default', 'mail', 'later']) await given(setup, 'true', { queue, requires: ['gpu'] });
    await setup.workron('queues', 'pause', 'later');
    const connection = new Connection(url, { token: null });
    const seen = {
      queues: (await connection.json(routes.listQueues)).items,
      workers: (await connection.json(routes.listWorkers)).items,
    };
    const paused = 'later: paused, 1 job waiting';
    const texts = async (now: number) => (await worriesNow(connection, seen, now)).map(({ text }) => text);
    assert.deepEqual(await texts(Date.now()), [paused], 'a worker may be about to start');
    const [first, second, ...more] = await texts(Date.now() + 2 * 60_000);
    for (const problem of [first, second])
      assert.match(
        problem ?? '',
        /^(default|mail): 1 job has waited 2m\d*s?: waiting for a worker with tag gpu: none is online$/,
      );
    assert.deepEqual(more, [paused]);
    const waits = await lateWaits(connection, seen.queues, Date.now() + 2 * 60_000);
    assert.deepEqual([...waits.keys()], ['default', 'mail'], 'for `queues` and `queues show`');
  });

  test('banner: with a token, its lines say how to give it, and do not print it', async () => {
    await using setup = await setUp(['--db-driver', 'memory'], { WORKRON_TOKEN: 'hush-hush' });
    const stdout = setup.server.output();
    assert.match(stdout, /export WORKRON_TOKEN=…/);
    const [, line = ''] = /try +(curl .*)/.exec(stdout) ?? [];
    assert.ok(!stdout.includes('hush-hush'));
    const { status } = spawnSync('sh', ['-c', `${line} -f -s`], {
      env: { ...process.env, WORKRON_TOKEN: 'hush-hush' },
    });
    assert.equal(status, 0, line);
  });

  test('banner: names the file of the token as a shell reads it, and only if the token is from there', async () => {
    const file = join(shared.folder, "it's a token");
    await writeFile(file, 'hush-hush\n', { mode: 0o600 });
    await using fromFile = await setUp(['--db-driver', 'memory', '--token-file', file]);
    const [, line = ''] = /token +(export .*)/.exec(fromFile.server.output()) ?? [];
    const { stdout } = spawnSync('sh', ['-c', `${line}; echo "$WORKRON_TOKEN"`], { encoding: 'utf8' });
    assert.equal(stdout, 'hush-hush\n', line);
    await using given = await setUp(['--db-driver', 'memory', '--token-file', file], { WORKRON_TOKEN: 'other' });
    assert.match(given.server.output(), /export WORKRON_TOKEN=…/);
  });

  test('client commands find the server of the workron.yaml beside them', async () => {
    const { server, workron, folder } = shared;
    const beside = join(folder, 'beside');
    await mkdir(beside);
    await writeFile(join(beside, 'workron.yaml'), `port: ${new URL(server.url).port}\n`);
    assert.equal((await callWorkron(['jobs'], { cwd: beside })).code, 0);
    assert.equal((await workron('jobs')).code, 0);
  });

  test('limits: are submitted, listed, set for all jobs and removed', async () => {
    const { workron } = shared;
    const sleeping = (await workron('submit', '-q', '--limit', 'cli:a=b=1', '--', 'sleep 600')).stdout.trim();
    const waiting = (
      await workron('submit', '-q', '--limit', 'cli:a=b=1', '--rate', 'cli=5/1s+1', '--', 'true')
    ).stdout.trim();
    const { limits, rates } = JSON.parse((await workron('job', waiting, '--json')).stdout);
    assert.deepEqual(limits, [{ key: 'cli:a=b', max: 1 }]);
    assert.deepEqual(rates, [{ key: 'cli', limit: 5, per: 1_000, burst: 1 }]);
    await eventually(async () => (await workron('why', waiting)).stdout.includes('limit of cli:a=b: 1 of 1 run'));
    assert.match((await workron('limits')).stdout, /cli:a=b +– +1 +1/);
    assert.equal((await workron('limits', 'set', 'cli:a=b')).code, 2);
    assert.equal((await workron('limits', 'set', 'cli:a=b', '--max', '0')).code, 2);
    const set = await workron('limits', 'set', 'cli:a=b', '--max', '2');
    assert.equal(set.stdout, 'key cli:a=b: at most 2 at once, 1 running\n');
    assert.equal((await workron('wait', waiting)).code, 0);
    assert.match((await workron('limits', 'rm', 'cli:a=b')).stdout, /the limit of each job counts/);
    await workron('cancel', sleeping);
    assert.equal((await workron('submit', '--limit', 'x', '--', 'true')).code, 2);
    assert.equal((await workron('submit', '--rate', 'x=1', '--', 'true')).code, 2);
  });

  test('queues set: sets and removes a rate', async () => {
    const { workron } = shared;
    const set = await workron('queues', 'set', 'rated', '--rate', '100/1m', '--burst', '20');
    assert.equal(set.stdout, 'queue rated is open, no limit, at most 100/1m+20 start\n');
    assert.match((await workron('queues')).stdout, /rated +open +0 +– +100\/1m\+20/);
    assert.equal((await workron('queues', 'set', 'rated', '--rate', 'none')).stdout, 'queue rated is open, no limit\n');
    assert.equal((await workron('queues', 'set', 'rated', '--burst', '1')).code, 2);
    assert.equal((await workron('queues', 'rm', 'rated')).code, 0);
  });

  test('queues rm: deletes a queue made by a typing error, and refuses one with jobs', async () => {
    const { workron } = shared;
    await workron('queues', 'pause', 'nosuch2');
    assert.deepEqual(await workron('queues', 'rm', 'nosuch2'), {
      code: 0,
      stdout: 'queue nosuch2 is deleted\n',
      stderr: '',
    });
    assert.equal((await workron('queues', 'rm', 'nosuch2')).code, 3);
    await workron('queues', 'pause', 'filled');
    const id = await given(shared, 'true', { queue: 'filled' });
    const { code, stderr } = await workron('queues', 'rm', 'filled');
    assert.deepEqual([code, /unfinished jobs/.test(stderr)], [5, true]);
    await workron('cancel', id);
    assert.equal((await workron('queues', 'rm', 'filled')).code, 0);
    for (const name of ['first2', 'last2']) await workron('queues', 'pause', name);
    const several = await workron('queues', 'rm', 'first2', 'nosuch2', 'last2');
    assert.deepEqual(
      [several.code, several.stdout],
      [3, 'queue first2 is deleted\nqueue last2 is deleted\n'],
      'each is tried',
    );
  });

  test('queues: pause, resume and limit; the list shows it', async () => {
    const { workron, server } = shared;
    const paused = await workron('queues', 'pause', 'mail');
    assert.deepEqual([paused.code, paused.stdout], [0, 'queue mail is paused, no limit\n']);
    const id = await given(shared, 'true', { queue: 'mail' });
    assert.match((await workron('why', id)).stdout, /paused/);
    assert.match((await workron('queues')).stdout, /^mail +paused +0 +– +– +1 +0 +0 /m);
    const set = await workron('queue', 'set', 'mail', '--max-running', '2', '--json');
    assert.equal((JSON.parse(set.stdout) as { max_running: number }).max_running, 2);
    assert.equal((await workron('queues', 'resume', 'mail')).stdout, 'queue mail is open, at most 2 at once\n');
    await hasStatus(shared, id, 'done');
    const cleared = await workron('queues', 'set', 'mail', '--max-running', 'none');
    assert.equal(cleared.stdout, 'queue mail is open, no limit\n');
    // Other tests make queues on the same server.
    const mail = (items: { name: string }[]) => items.filter(({ name }) => name === 'mail');
    const { items } = await api<{ items: { name: string }[] }>(server.url, '/queues');
    assert.deepEqual(mail(JSON.parse((await workron('queues', '--json')).stdout) as { name: string }[]), mail(items));
  });

  test('queues show: limits, jobs and the last hour of a queue; one that nobody knows exits with 3', async () => {
    await using setup = await setUp(['--db-driver', 'memory']);
    const { workron } = setup;
    await hasStatus(setup, await given(setup, 'true', { queue: 'idle' }), 'done');
    await hasStatus(setup, await given(setup, 'exit 1', { queue: 'idle', max_attempts: 1 }), 'failed');
    // Statistics are written some time after the end of a job.
    await eventually(async () => (await workron('queues', 'show', 'idle')).stdout.includes('1 failed'));
    assert.match((await workron('queues')).stdout, /^idle +open +0 +– +– +0 +0 +0 +–$/m);
    assert.match(
      (await workron('queues', 'show', 'idle')).stdout,
      /^queue idle\nstate +open\nrunning +0\npending +0\nscheduled +0\nblocked +0\nlast hour +1 done, 1 failed, p95 wait .+, p95 run .+\n$/,
    );
    await workron('queues', 'set', 'mail', '--max-running', '2', '--rate', '10/1m');
    await workron('queues', 'pause', 'mail');
    await given(setup, 'true', { queue: 'mail' });
    const shown = (await workron('queue', 'show', 'mail')).stdout;
    assert.match(
      shown,
      /^queue mail\nstate +paused \d{4}-.*\nrunning +0 of at most 2\nrate +at most 10\/1m start\npending +1, oldest \d{4}-/,
    );
    const object = JSON.parse((await workron('queues', 'show', 'mail', '--json')).stdout) as object;
    const { items } = await api<{ items: { name: string }[] }>(setup.server.url, '/queues');
    assert.deepEqual(
      object,
      items.find(({ name }) => name === 'mail'),
    );
    const unknown = await workron('queues', 'show', 'mial');
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [3, 'error: queue mial has no setting and no unfinished or recent job\nhint: did you mean mail?\n'],
    );
  });

  test('workers show: a worker with what it can run and what it runs', async () => {
    const { workron } = shared;
    const id = await workerOf(shared);
    const job = await given(shared, 'sleep 60', { name: 'shown' });
    await hasStatus(shared, job, 'running');
    const { stdout } = await workron('workers', 'show', id);
    assert.match(
      stdout,
      new RegExp(`^worker ${id}  ${await nameOf(shared, id)}\nstate +online\nbusy +[12] of 2 slots\n`),
    );
    assert.match(
      stdout,
      /^queues +all\nruns +commands, workron\.webhook\nmachine +.+, process \d+\nattached +local, /m,
    );
    assert.match(stdout, new RegExp(`^ *${job} +shown +default +1 `, 'm'));
    assert.equal((JSON.parse((await workron('workers', 'show', id, '--json')).stdout) as Job).id, id);
    await workron('cancel', job);
    const unknown = await workron('workers', 'show', '999999');
    assert.deepEqual([unknown.code, unknown.stderr.split('\n')[0]], [3, 'error: No worker 999999']);
    assert.equal((await workron('workers', 'show', 'x')).code, 2);
  });

  test('workers: the list is that of the API; drain reaches the worker; an unknown worker exits with 3', async () => {
    await using setup = await setUp(['--worker-name', 'ada', '--tags', 'gpu,eu', '--queues', 'a,b', '--workers', '3']);
    const { workron } = setup;
    const id = await workerOf(setup);
    assert.equal((await workron('workers', '-q')).stdout, `${id}\n`);
    const { stdout } = await workron('workers');
    assert.match(
      stdout,
      new RegExp(`^ *${id} +online +ada +0/3 +cpu 0/\\d+, memory_mb 0/\\d+ +– +a,b +gpu,eu +local `, 'm'),
    );
    assert.equal((await workron('workers', 'drain', '999999')).code, 3);
    const drained = await workron('workers', 'drain', id);
    assert.deepEqual([drained.code, drained.stdout], [0, `worker ${id} (ada) is draining\n`]);
  });

  test('workers: a drained worker of `up` is brought back by undrain; one that has left is told to be started again', async () => {
    await using setup = await setUp();
    const { workron, server } = setup;
    const own = await workerOf(setup);
    assert.equal((await workron('workers', 'drain', own)).code, 0);
    const job = await given(setup, 'true');
    const { code, stdout } = await workron('status');
    assert.equal(code, 1);
    assert.match(stdout, /No worker takes new jobs, and 1 job waits/);
    const undrained = await workron('workers', 'undrain', own);
    assert.deepEqual(
      [undrained.code, undrained.stdout],
      [0, `worker ${own} (${await nameOf(setup, own)}) takes jobs again\n`],
    );
    await hasStatus(setup, job, 'done');
    assert.equal((await workron('workers', 'undrain', '999999')).code, 3);

    const { worker_id: other } = await api<{ worker_id: string }>(server.url, '/workers/register', {
      protocol: 1,
      name: 'eve',
    });
    await api(server.url, `/workers/${other}/leave`, {});
    assert.equal(
      (await workron('workers', 'undrain', other)).stdout,
      `worker ${other} (eve) is offline: start it again\n`,
    );
  });

  test('status: one look, and its parts with --json', async () => {
    await using setup = await setUp(['--workers', '3']);
    const { workron } = setup;
    await given(setup, 'true', { delay: '1h' });
    await workerOf(setup);
    const { code, stdout } = await workron('status');
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^healthy +sqlite, up .*, version .*\n1 worker, 0 of 3 slots busy\n1 instance \(1 scheduler\), led by \S+\nrunning 0 {2}pending 0 {2}scheduled 1 {2}blocked 0\ndone 0 {2}failed 0 {2}in the last 24 h\n$/,
    );
    const parts = JSON.parse((await workron('status', '--json')).stdout) as Record<string, unknown>;
    assert.deepEqual(Object.keys(parts), [
      'health',
      'ready',
      'queues',
      'workers',
      'cluster',
      'day',
      'problems',
      'notes',
    ]);

    const id = await given(setup, 'sleep 300');
    await hasStatus(setup, id, 'running');
    setup.server.signal('SIGTERM');
    await eventually(async () => !(await fetch(`${setup.server.url}/ready`)).ok);
    const { code: unwell, stdout: draining } = await workron('status');
    assert.equal(unwell, 1);
    assert.match(draining, /^unhealthy /);
    assert.match(draining, /^1 worker, 1 of 3 slots busy$/m, 'what it still does is no secret');
    assert.match(draining, /^running 1 {2}pending 0 {2}scheduled 1 {2}blocked 0$/m);
    assert.match(draining, /^problem: shutting down$/m);
    await api(setup.server.url, `/jobs/${id}/cancel`, {});
  });

  test('token: without it refused (4), with it by variable, flag or file welcome', async () => {
    await using setup = await setUp([], { WORKRON_TOKEN: 'sesame' });
    const { server, folder } = setup;
    const file = join(folder, 'token');
    await writeFile(file, 'sesame\n', { mode: 0o600 });
    const env = { WORKRON_URL: server.url };
    const refused = await callWorkron(['jobs'], { env });
    assert.equal(refused.code, 4);
    assert.match(refused.stderr, /hint: give the token by WORKRON_TOKEN/);
    const problem = JSON.parse((await callWorkron(['jobs', '--json'], { env })).stderr) as {
      code: string;
      status: number;
    };
    assert.deepEqual([problem.code, problem.status], ['unauthorized', 401]);
    assert.equal((await callWorkron(['jobs'], { env: { ...env, WORKRON_TOKEN: 'wrong' } })).code, 4);
    assert.equal((await callWorkron(['jobs'], { env: { ...env, WORKRON_TOKEN: 'sesame' } })).code, 0);
    assert.equal((await callWorkron(['jobs', '--token', 'sesame'], { env })).code, 0);
    assert.equal((await callWorkron(['jobs', '--token-file', file], { env })).code, 0);
  });

  test('health, doctor --url: ask a running server; health says it by its exit code', async () => {
    await using setup = await setUp();
    const { workron, server } = setup;
    const { code, stdout } = await workron('health');
    assert.deepEqual([code, stdout], [0, 'ok\n']);
    assert.deepEqual(JSON.parse((await workron('health', '--json')).stdout), { ok: true, problems: [] });
    assert.deepEqual(
      [(await workron('health', '-q')).stdout, (await workron('health', '--url', 'http://127.0.0.1:59')).code],
      ['', 6],
    );
    const found = await workron('doctor', '--url', server.url);
    assert.equal(found.code, 0, found.stdout);
    assert.match(found.stdout, /^ok +workers +\d+ online/m);
    assert.equal((await workron('doctor', '--url', 'http://127.0.0.1:59')).code, 6);
  });

  test('init: adds the files of Workron to .gitignore, once', async () => {
    await using project = await temporaryFolder();
    const init = async (...args: string[]) => (await callHosted(['init', ...args], { cwd: project.path })).stdout;
    assert.equal(await init('--dry-run'), 'workron.db*\n');
    await writeFile(join(project.path, '.gitignore'), 'node_modules');
    assert.equal(await init(), 'added workron.db* to .gitignore; next: workron up\n');
    assert.equal(await readFile(join(project.path, '.gitignore'), 'utf8'), 'node_modules\nworkron.db*\n');
    assert.match(await init(), /has them already/);
  });

  test('backup: a whole copy while jobs run, which another Workron can start from', async () => {
    const { workron, folder, server } = shared;
    const source = ['--db-url', join(folder, 'workron.db')];
    const copy = join(folder, 'copy.db');
    const done = await given(shared, 'echo kept');
    await hasStatus(shared, done, 'done');
    const load = Array.from({ length: 200 }, () => ({ command: 'true' }));
    await api(server.url, '/jobs', load);
    const backup = await workron('backup', copy, ...source);
    assert.equal(backup.code, 0, backup.stderr);
    assert.equal((await workron('backup', copy, ...source)).code, 5);
    assert.ok(!existsSync(`${copy}.partial`));
    const dangling = join(folder, 'dangling.db');
    symlinkSync(join(folder, 'nowhere.db'), dangling);
    const refused = await workron('backup', dangling, ...source);
    assert.deepEqual([refused.code, refused.stderr.split('\n')[0]], [5, `error: ${dangling} exists already`]);
    assert.equal((await workron('backup', 'x.db', '--db-url', 'none.db')).code, 3);
    assert.equal((await workron('backup', 'x.db', '--db-url', 'postgres://h/d')).code, 2);

    await using other = await setUp(['--db-url', copy]);
    assert.equal((await other.workron('logs', done)).stdout, 'kept\n');
  });

  test('migrate: a fresh SQLite file gets its schema; one in use is left alone', async () => {
    const { workron } = shared;
    const fresh = await workron('migrate', '--db-url', 'fresh.db');
    assert.equal(fresh.code, 0, fresh.stderr);
    assert.match(fresh.stdout, /^sqlite .*fresh\.db: the schema is up to date\n$/);
    const used = await workron('migrate', '--db-url', 'workron.db');
    assert.equal(used.code, 6);
    assert.match(used.stderr, /in use by another Workron/);
  });

  test('wait: bears with a server that goes away while it waits, not with one that was never there', async () => {
    const { server } = shared;
    const id = await given(shared, 'true', { delay: '1h' });
    await using proxy = await startHttpProxy(server.url);
    let asked = 0;
    proxy.judge = () => {
      asked += 1;
      if (asked === 4) void api(server.url, `/jobs/${id}/cancel`, {});
      return asked === 1 || asked > 4 ? 'pass' : 'lose request';
    };
    const waited = await callWorkron(['wait', id], { env: { WORKRON_URL: proxy.url } });
    assert.deepEqual(waited, { code: 125, stdout: `job ${id} cancelled\n`, stderr: '' });
    proxy.judge = () => 'lose request';
    assert.equal((await callWorkron(['wait', id], { env: { WORKRON_URL: proxy.url } })).code, 125);
  });

  test('up: says which store it uses, that memory forgets, and that a port is taken', async () => {
    await using setup = await setUp(['--db-driver', 'memory']);
    assert.match(setup.server.output(), /memory: jobs are gone when this process ends/);
    assert.equal((await setup.workron('run', '-q', '--', 'echo here')).stdout, 'here\n');
    const { port } = new URL(setup.server.url);
    const refused = await setup.workron('up', '--port', port, '--db-driver', 'memory', '--log-level', 'warn');
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      new RegExp(`^error: cannot listen on 127\\.0\\.0\\.1:${port} \\(EADDRINUSE\\)\nhint: .*--port`, 'm'),
    );
  });

  test('up: other addresses than loopback need a token', async () => {
    await using folder = await temporaryFolder();
    const refused = await callWorkron(['up', '--host', '0.0.0.0', '--port', '0'], { cwd: folder.path });
    assert.equal(refused.code, 4);
    assert.match(refused.stderr, /0\.0\.0\.0 without a token.*--token or WORKRON_TOKEN/s);
    assert.ok(!existsSync(join(folder.path, 'workron.db')));
  });
});

test('tokens: one is made, used, rotated and revoked from the command line', async () => {
  await using setup = await setUp(['--token', 'a-token-of-the-test-server']);
  const { server, folder } = setup;
  const as = (token: string, ...words: string[]) =>
    callHosted(words, { env: { WORKRON_URL: server.url, WORKRON_TOKEN: token }, cwd: folder });
  const made = await as(
    'a-token-of-the-test-server',
    'tokens',
    'create',
    'ci',
    '--role',
    'submitter',
    '--queues',
    'a,b',
  );
  assert.equal(made.code, 0, made.stderr);
  const token = made.stdout.trim();
  assert.match(token, /^wkr_[\w-]{43}$/, 'the token alone is on stdout');
  assert.match(made.stderr, /^token ci \(submitter\) never expires; copy it now, it won't be shown again\n$/);

  assert.equal((await as(token, 'submit', '--queue', 'a', '--', 'true')).code, 0);
  const refused = await as(token, 'submit', '--queue', 'c', '--', 'true');
  assert.deepEqual(
    [refused.code, /may not use the queue c, only a, b/.test(refused.stderr)],
    [4, true],
    refused.stderr,
  );
  assert.equal((await as(token, 'queues', 'pause', 'a')).code, 4);
  assert.equal((await as(token, 'tokens')).code, 4);

  const admin = (...words: string[]) => as('a-token-of-the-test-server', ...words);
  const rotated = (await admin('tokens', 'rotate', 'ci', '--overlap', '1h')).stdout.trim();
  assert.equal((await as(token, 'jobs')).code, 0);
  assert.equal((await as(rotated, 'jobs')).code, 0);
  const listed = JSON.parse((await admin('tokens', 'ls', '--json')).stdout);
  assert.deepEqual(
    listed.map(({ name, valid, replaced_at }: Record<string, unknown>) => [name, valid, replaced_at !== null]),
    [
      ['ci', true, false],
      ['ci', true, true],
    ],
  );
  assert.match((await admin('tokens')).stdout, /TOKEN +ROLE +QUEUES +STATE[^]*ci +submitter +a,b +replaced/);
  assert.match((await admin('tokens', 'revoke', 'ci')).stdout, /token ci is revoked/);
  assert.equal((await as(rotated, 'jobs')).code, 4);
  assert.equal((await admin('tokens', 'revoke', 'ci')).code, 3);
  assert.equal((await admin('tokens', 'create', 'x', '--role', 'root')).code, 2);
});
