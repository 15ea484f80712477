/** A job that runs as another user than the server reaches neither its token, nor its database, nor its keys. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callWorkron } from '../kit/command-line.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const OTHER = 65_533;
const root = join(import.meta.dirname, '..', '..');

function whyNot(): string | false {
  if (process.getuid?.() !== 0) return 'only root can act as another user';
  const reads = spawnSync('test', ['-x', join(root, 'bin', 'workron')], { uid: OTHER, gid: OTHER });
  return reads.status === 0 ? false : 'other users cannot read this folder';
}
const needsRoot = { skip: whyNot() };

/** A server of root that makes its token itself, with a database and a secrets key beside. Other users can look into its folder. */
async function setUp(command: 'up' | 'scheduler', args: readonly string[] = []) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  chmodSync(folder, 0o755);
  const key = join(folder, 'key');
  writeFileSync(key, `${'k'.repeat(43)}=\n`, { mode: 0o600 });
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  const database = join(folder, 'w.db');
  const server = stack.use(
    await startWorkron({
      args: [command, '--port', '0', '--log-level', 'warn', '--db-url', database, '--secrets-key-file', key, ...args],
      env,
      cwd: folder,
      ownToken: true,
    }),
  );
  const state = join(env.XDG_STATE_HOME, 'workron', new URL(server.url).port);
  const workron = async (...words: string[]) => {
    const called = await callWorkron(words, { env: { ...env, WORKRON_URL: server.url }, cwd: folder });
    return { ...called, all: called.stdout + called.stderr };
  };
  return { server, folder, key, database, state, workron, stack, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/**
 * What a hostile job tries. Each line of its output is something that it got; `tried` shows that it came to the end. It looks
 * for the tokens of this server: other processes of the machine may show theirs.
 */
function attacks({ server, key, database, state }: Awaited<ReturnType<typeof setUp>>, ...tokens: string[]): string {
  const own = [readFileSync(join(state, 'token'), 'utf8').trim(), ...tokens];
  // Its own command line has the pattern, which is not the token.
  const patterns = own.map((token) => `-e '[${token.slice(0, 1)}]${token.slice(1)}'`).join(' ');
  const files = [key, database, `${database}-wal`, `${database}-shm`, join(state, 'token'), join(state, 'socket')];
  const { pid, url } = server;
  return [
    'id -u',
    ...files.map((file) => `(head -c 1 ${file} >/dev/null && echo read ${file}) 2>/dev/null`),
    `(echo x >> ${database} && echo wrote) 2>/dev/null`,
    `ls ${state} 2>/dev/null`,
    ...['environ', 'maps', 'mem', 'fd/', 'cwd/', 'root/'].map(
      (name) =>
        `(ls /proc/${pid}/${name} >/dev/null && head -c 1 /proc/${pid}/${name} >/dev/null && echo ${name}) 2>/dev/null`,
    ),
    `cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -a ${patterns}`,
    `kill -0 ${pid} 2>/dev/null && echo signalled`,
    `python3 -c 'import ctypes,sys; sys.exit(0 if ctypes.CDLL(None).ptrace(16, ${pid}, 0, 0) == 0 else 1)' 2>/dev/null && echo traced`,
    `curl -s -o /dev/null -w '%{http_code}\\n' ${url}/jobs`,
    `curl -s --unix-socket ${join(state, 'socket')} http://localhost/jobs`,
    `HOME=/root XDG_STATE_HOME=${join(state, '..', '..')} ${root}/bin/workron jobs --url ${url} >/dev/null 2>&1 && echo called`,
    'sudo -n true 2>/dev/null && echo became root',
    'echo tried',
  ].join('\n');
}

for (const namespace of ['auto', 'off']) {
  test(`run-as (namespace ${namespace}): a job reaches neither token, database nor key`, needsRoot, async () => {
    await using scene = await setUp('up', ['--run-as', 'nobody', '--pid-namespace', namespace]);
    const { code, stdout, all } = await scene.workron('run', '--', attacks(scene));
    assert.equal(code, 0, all);
    const nobody = spawnSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).stdout.trim();
    assert.equal(stdout, `${nobody}\n401\ntried\n`);
  });
}

test('run-as: results, progress, checkpoints, inputs and long commands work as ever', needsRoot, async () => {
  await using scene = await setUp('up', ['--run-as', 'nobody']);
  const { workron, server } = scene;
  const script = [
    'cat',
    'test "$WORKRON_ATTEMPT" = 2 && cat "$WORKRON_LAST_CHECKPOINT"',
    'echo "half of it" > "$WORKRON_CHECKPOINT.new" && mv "$WORKRON_CHECKPOINT.new" "$WORKRON_CHECKPOINT"',
    'echo "50% on the way" > "$WORKRON_PROGRESS"',
    'echo "whom=$(id -un)" > "$WORKRON_OUTPUT"',
    'test "$WORKRON_ATTEMPT" = 2',
    `: ${'x'.repeat(110_000)}`,
  ].join('\n');
  const [name, value] = (await workron('auth', 'header')).stdout.trim().split(': ') as [string, string];
  const command = script.replace('\n: ', ' || exit 1\n: ');
  const response = await fetch(`${server.url}/jobs`, {
    method: 'POST',
    headers: { [name]: value, 'content-type': 'application/json' },
    body: JSON.stringify({ command, input: 'from the job\n', max_attempts: 2, backoff: { type: 'none' } }),
  });
  const { id } = (await response.json()) as { id: string };
  const waited = await workron('wait', id);
  assert.equal(waited.code, 0, waited.all + (await workron('logs', id)).all);
  assert.equal((await workron('logs', id)).stdout, 'from the job\nhalf of it\n');
  const job = JSON.parse((await workron('job', id, '--json')).stdout);
  assert.deepEqual([job.result, job.progress?.text], [{ whom: 'nobody' }, 'on the way']);
});

test(
  'run-as: a worker under another user, with a token for workers, keeps its jobs from the server',
  needsRoot,
  async () => {
    await using scene = await setUp('scheduler');
    const { workron, server, stack } = scene;
    const home = stack.use(await temporaryFolder()).path;
    const token = join(home, 'token');
    const created = (await workron('tokens', 'create', 'jobs', '--role', 'worker')).stdout.trim();
    writeFileSync(token, `${created}\n`, { mode: 0o600 });
    for (const path of [home, token]) chownSync(path, OTHER, OTHER);
    stack.use(
      await startWorkron({
        args: ['worker', '--scheduler', server.url, '--token-file', token, '--log-level', 'warn'],
        env: { HOME: home, XDG_STATE_HOME: home, TMPDIR: home },
        cwd: home,
        uid: OTHER,
        ownToken: true,
      }),
    );
    const { code, stdout, all } = await workron('run', '--', attacks(scene, created));
    assert.equal(code, 0, all);
    assert.equal(stdout, `${OTHER}\n401\ntried\n`);
    // What the job can read of its worker allows to work, and nothing else.
    const auth = `authorization: Bearer $(cat ${token})`;
    const tried = await workron('run', '--', `curl -s -o /dev/null -w '%{http_code}' -H "${auth}" ${server.url}/jobs`);
    assert.equal(tried.stdout, '403');
  },
);

test(
  'run-as: a worker that is not root, and a user that does not exist, are refused at the start',
  needsRoot,
  async () => {
    const start = (args: readonly string[], uid?: number) =>
      spawnSync(join(root, 'bin', 'workron'), ['up', '--port', '0', '--db-url', 'memory:', ...args], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] },
        cwd: '/',
        ...(uid === undefined ? {} : { uid, gid: uid }),
      });
    const missing = start(['--run-as', 'no-such-user']);
    assert.deepEqual([missing.status, missing.stderr], [2, 'error: run-as: no user "no-such-user" on this machine\n']);
    const weak = start(['--run-as', 'nobody'], OTHER);
    assert.equal(weak.status, 2, weak.stderr);
    assert.match(weak.stderr, /^error: run-as: only a process of root can run commands as another user\n/);
  },
);
