/** A server that is started without a token: its own user reaches it at once, others do not. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { job, open } from '../../src/index.ts';
import { callWorkron } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const run = promisify(execFile);
const OTHER = 65_533;

async function setUp(args: readonly string[] = ['--port', '0']) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  // Other users can look into it: what is inside must be closed by itself.
  chmodSync(folder, 0o755);
  const env = { XDG_STATE_HOME: join(folder, 'state') };
  const start = () =>
    startWorkron({
      args: ['up', '--log-level', 'warn', '--db-url', join(folder, 'w.db'), ...args],
      env,
      cwd: folder,
      ownToken: true,
    });
  const server = stack.use(await start());
  const { url } = server;
  const place = join(env.XDG_STATE_HOME, 'workron', new URL(url).port);
  const workron = (...words: string[]) => callWorkron(words, { env: { ...env, WORKRON_URL: url }, cwd: folder });
  return { server, start, url, folder, place, env, workron, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const status = async (url: string, headers: Record<string, string> = {}) =>
  (await fetch(`${url}/jobs`, { headers })).status;

test('own token: the command line, curl and the library of the same user need nothing', async () => {
  await using scene = await setUp();
  const { url, workron, place, env } = scene;
  assert.equal(await status(url), 401, 'the port needs a token');
  const ran = await workron('run', '--', 'echo hi');
  assert.deepEqual([ran.code, ran.stdout], [0, 'hi\n'], ran.stderr);

  const header = (await workron('auth', 'header')).stdout.trim();
  assert.match(header, /^authorization: Bearer wkr_[\w-]{43}$/);
  assert.equal(await status(url, { authorization: header.slice('authorization: '.length) }), 200);
  const curl = await run('curl', ['-s', '--unix-socket', join(place, 'socket'), 'http://localhost/jobs']);
  assert.equal(JSON.parse(curl.stdout).items.length, 1);
  const session = await run('curl', ['-s', '--unix-socket', join(place, 'socket'), 'http://localhost/session']);
  assert.equal(JSON.parse(session.stdout).name, 'local');

  process.env['XDG_STATE_HOME'] = env.XDG_STATE_HOME;
  try {
    const library = await open(url);
    assert.equal((await library.submit(job('noop'), {})).id, '2');
    await library.stop();
  } finally {
    delete process.env['XDG_STATE_HOME'];
  }
});

test('own token: the link that is printed logs in once, and another can be made', async () => {
  await using scene = await setUp();
  const { server, url, workron } = scene;
  const code = /#link=([\w-]{43})/.exec(server.output())?.[1] as string;
  const open = (text: string) =>
    fetch(`${url}/session`, { method: 'POST', headers: { authorization: `Bearer ${text}` } });
  assert.equal((await open(code)).status, 200);
  assert.equal((await open(code)).status, 401);
  const another = (await workron('auth', 'link')).stdout.trim();
  assert.ok(another.startsWith(`${url}/ui/#link=`));
  assert.equal((await open(another.split('=')[1] as string)).status, 200);
});

test('own token: a worker over HTTP of the same user finds it, and keeps it when the server starts again', async () => {
  await using scene = await setUp([
    '--port',
    String(20_000 + Math.floor(Math.random() * 9_000)),
    '--role',
    'api,scheduler',
  ]);
  const { url, env, folder, workron, server, start, place } = scene;
  await using _worker = await startWorkron({ args: ['worker', '--scheduler', url], env, cwd: folder });
  assert.equal((await workron('run', '--', 'echo one')).stdout, 'one\n');
  const token = readFileSync(join(place, 'token'), 'utf8');
  server.signal('SIGTERM');
  await server.exited;
  assert.equal((await workron('jobs')).code, 6, 'nothing is sent to a port whose server has ended');
  await using _again = await start();
  assert.equal(readFileSync(join(place, 'token'), 'utf8'), token);
  assert.equal((await workron('run', '--', 'echo two')).stdout, 'two\n');
});

test('own token: another user of the machine gets nowhere', { skip: process.getuid?.() !== 0 }, async () => {
  await using scene = await setUp();
  const { url, place, folder } = scene;
  const asOther = (...words: string[]) =>
    run('setpriv', [`--reuid=${OTHER}`, `--regid=${OTHER}`, '--clear-groups', ...words], {
      env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent' },
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string; stderr: string }) => `refused ${error.stdout}${error.stderr}`,
    );
  const submit = ['curl', '-s', '-w', '%{http_code}', '-o', '/dev/null', '-d', '{"command":"id"}'];
  assert.equal(await asOther(...submit, `${url}/jobs`), '401');
  assert.match(await asOther(...submit, '--unix-socket', join(place, 'socket'), 'http://localhost/jobs'), /^refused/);
  for (const name of ['token', 'pid', 'socket']) assert.match(await asOther('cat', join(place, name)), /denied/i, name);
  assert.match(await asOther('cat', join(folder, 'w.db')), /denied/i);
  for (const [path, mode] of [
    [place, 0o700],
    [join(place, 'token'), 0o600],
  ] as const) {
    assert.equal(statSync(path).mode & 0o777, mode, path);
  }
});

test('own token: a folder that another user made in its place is not used', {
  skip: process.getuid?.() !== 0,
}, async () => {
  await using folder = await temporaryFolder();
  chmodSync(folder.path, 0o777);
  const place = join(folder.path, 'state', 'workron', '8080');
  const script = `mkdir -p ${place} && printf %s wkr_forged > ${place}/token && printf %s ${process.pid} > ${place}/pid`;
  await run('setpriv', [`--reuid=${OTHER}`, `--regid=${OTHER}`, '--clear-groups', 'sh', '-c', script]);
  const called = await callWorkron(['auth', 'header'], { env: { XDG_STATE_HOME: join(folder.path, 'state') } });
  assert.doesNotMatch(called.stdout, /forged|Bearer/);
});

test('auth header: without access it prints nothing, fails and says what to do', async () => {
  await using scene = await setUp();
  const { server, url, folder, workron } = scene;
  const asStranger = (...words: string[]) =>
    callWorkron(words, { env: { XDG_STATE_HOME: join(folder, 'nobody'), WORKRON_URL: url } });
  const refused = await asStranger('auth', 'header');
  assert.deepEqual([refused.code, refused.stdout], [4, '']);
  assert.match(refused.stderr, /give the token by WORKRON_TOKEN, --token or --token-file/);
  const given = await asStranger('auth', 'header', '--token', 'wkr_of-another-installation');
  assert.deepEqual([given.code, given.stdout], [0, 'authorization: Bearer wkr_of-another-installation\n']);
  server.signal('SIGTERM');
  await server.exited;
  const gone = await workron('auth', 'header');
  assert.deepEqual([gone.code, gone.stdout], [6, ''], 'the token of an ended server is not given to who took its port');
  assert.match(gone.stderr, /cannot connect to Workron at/);
});

test('own token: with --insecure-no-token everybody may do everything, and it says so', async () => {
  await using scene = await setUp(['--port', '0', '--insecure-no-token']);
  const { server, url, workron } = scene;
  assert.equal(await status(url), 200);
  const header = await workron('auth', 'header');
  assert.deepEqual([header.code, header.stdout], [0, 'x-workron: no-token\n'], 'a script needs no other form for it');
  assert.match(server.output(), /WARNING +no token: every user of this machine can run commands/);
  await eventually(() => /every user of this machine can run commands as this one/.test(server.output()));
});

test('own token: without a place for it the server does not start, and says what to do', async () => {
  await using folder = await temporaryFolder();
  for (const name of ['file', `workron-${process.getuid?.()}`]) writeFileSync(join(folder.path, name), '');
  const env = { XDG_STATE_HOME: join(folder.path, 'file'), TMPDIR: folder.path };
  const args = ['up', '--port', '18432', '--db-url', join(folder.path, 'w.db'), '--role', 'api,scheduler'];
  const { code, stderr } = await callWorkron(args, { env });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /no place for the token[^]*WORKRON_TOKEN or --token-file/);
});
