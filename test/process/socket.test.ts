/** A server on a socket of the file system: clients reach it there, and nobody can take its place while it is down. */

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { job, open } from '../../src/index.ts';
import { effort } from '../effort.ts';
import { callWorkron } from '../kit/command-line.ts';
import { endOnExit } from '../kit/end-on-exit.ts';
import { eventually } from '../kit/eventually.ts';
import { PROGRAM } from '../kit/program.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const run = promisify(execFile);
const TOKEN = 'token-of-the-server-of-this-test';
const [SERVER, JOBS, ROGUE] = [65_531, 65_532, 65_533];
const NOT_ROOT = process.getuid?.() === 0 ? false : 'needs root, to act as several users';

/** Why the program cannot be started as another user. */
function whyNoOtherUser(): string | false {
  if (NOT_ROOT) return NOT_ROOT;
  const reads = spawnSync('test', ['-x', PROGRAM], { uid: JOBS, gid: JOBS });
  return reads.status === 0 ? false : 'other users cannot read this folder';
}

async function setUp({ uid = 0 }: { uid?: number } = {}) {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await temporaryFolder()).path;
  chmodSync(root, 0o755);
  const own = (name: string, owner: number, mode = 0o755): string => {
    const path = join(root, name);
    mkdirSync(path, { mode });
    if (owner !== 0) chownSync(path, owner, owner);
    return path;
  };
  const [runtime, state] = [own('run', uid), own('state', uid, 0o700)];
  const socket = join(runtime, 'workron.sock');
  const tokenFile = (name: string, token: string, owner: number): string => {
    const path = join(root, name);
    writeFileSync(path, token, { mode: 0o600 });
    if (owner !== 0) chownSync(path, owner, owner);
    return path;
  };
  const start = async (port = 0) => {
    const args = ['scheduler', '--port', String(port), '--db-url', join(state, 'w.db'), '--socket', socket];
    const token = ['--token-file', join(root, 'server.token'), '--log-level', 'warn'];
    const env = { HOME: state, TMPDIR: state };
    return await startWorkron({ args: [...args, ...token], env, cwd: state, ...(uid === 0 ? {} : { uid }) });
  };
  tokenFile('server.token', TOKEN, uid);
  const call = (...words: string[]) =>
    callWorkron(words, { env: { WORKRON_URL: `unix:${socket}`, WORKRON_TOKEN: TOKEN }, cwd: root });
  return { root, runtime, socket, own, tokenFile, start, call, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test('socket: the command line, workers, the library and streams work over it, with a token', async () => {
  await using scene = await setUp();
  const { socket, start, call } = scene;
  await using _server = await start();
  assert.equal(lstatSync(socket).mode & 0o777, 0o666, 'the folder decides who reaches it');
  const curl = async (path: string, ...words: string[]) =>
    (await run('curl', ['-s', '--max-time', '20', '--unix-socket', socket, ...words, `http://localhost${path}`]))
      .stdout;
  assert.match(await curl('/jobs'), /"unauthorized"/, 'a socket for several users needs a token');
  const env = { WORKRON_TOKEN: TOKEN };
  await using _worker = await startWorkron({ args: ['worker', '--scheduler', `unix:${socket}`], env });
  const ran = await call('run', '--', 'echo one; sleep 1; echo two');
  assert.deepEqual([ran.code, ran.stdout], [0, 'one\ntwo\n'], ran.stderr);
  assert.match((await call('auth', 'link')).stdout, /^\/ui\/#link=[\w-]{43}\n$/);

  await using workron = await open(`unix:${socket}`, { token: TOKEN });
  const hello = job('hello', { run: (name: string) => `hello ${name}` });
  await workron.start({ jobs: [hello] });
  const header = `authorization: Bearer ${TOKEN}`;
  const events = curl('/events', '-H', header, '-N', '--max-time', '5').catch(
    (error: { stdout: string }) => error.stdout,
  );
  assert.equal(await (await workron.submit(hello, 'you')).result(), 'hello you');
  assert.match(await events, /^data: {"topic":"jobs"/m);
});

test('socket: a server does not start where others could take its place', async () => {
  await using scene = await setUp();
  const { runtime, socket, start } = scene;
  chmodSync(runtime, 0o777);
  await assert.rejects(start(), /socket: other users can write to .*its folder must belong/s);
  chmodSync(runtime, 0o755);
  writeFileSync(socket, '');
  await assert.rejects(start(), /socket: .* is no socket/);
});

test('socket: after kill -9 it is used again; while a server listens, another does not start', async () => {
  await using scene = await setUp();
  const { start, call } = scene;
  await using first = await start();
  await assert.rejects(start(), /socket: another server listens/);
  first.signal('SIGKILL');
  await first.exited;
  const gone = await call('jobs');
  assert.equal(gone.code, 6, gone.stderr);
  assert.match(gone.stderr, /cannot connect to Workron at unix:/);
  await using second = await start();
  assert.equal((await call('jobs')).code, 0);
  second.signal('SIGTERM');
  assert.equal(await second.exited, 0);
  assert.equal(lstatSync(scene.socket, { throwIfNoEntry: false }), undefined);
});

/** Listens on the port and tries to take over the socket, as another user. Prints what it gets. */
async function startRogue(port: number, socket: string) {
  const script = `
    const { createServer } = require('node:http');
    const path = ${JSON.stringify(socket)};
    require('node:fs').unlink(path, (error) => console.log('removing it ' + (error?.code ?? 'worked')));
    const take = (request, response) => {
      console.log('got ' + request.headers.authorization + ' by ' + request.method + ' ' + request.url);
      response.writeHead(503).end();
    };
    const listen = (place, name) => createServer(take).on('error', ({ code }) => console.log(name + ' ' + code))
      .listen(place, () => console.log(name + ' listens'));
    listen({ port: ${port}, host: '127.0.0.1' }, 'port');
    listen({ path }, 'socket');
    listen({ path: path + '2' }, 'another');`;
  const rogue = spawn(process.execPath, ['-e', script], {
    uid: ROGUE,
    gid: ROGUE,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endOnExit('process', rogue);
  const lines: string[] = [];
  createInterface(rogue.stdout).on('line', (line) => lines.push(line));
  await eventually(() => lines.filter((line) => !line.startsWith('got')).length >= 4);
  return {
    lines,
    async [Symbol.asyncDispose]() {
      const exited = once(rogue, 'exit');
      rogue.kill('SIGKILL');
      await exited;
    },
  };
}

test('socket: while the server is down, another user of the machine gets no token of its clients', {
  skip: whyNoOtherUser(),
  timeout: 120_000,
}, async () => {
  await using scene = await setUp({ uid: SERVER });
  const { socket, start, own, tokenFile, call } = scene;
  const server = await start();
  const home = own('jobs', JOBS, 0o700);
  const startWorker = async (name: string, scheduler: string) => {
    const made = await call('tokens', 'create', name, '--role', 'worker');
    const args = ['worker', '--scheduler', scheduler, '--queues', name, '--log-level', 'error'];
    const token = tokenFile(`${name}.token`, made.stdout.trim(), JOBS);
    const env = { HOME: home, TMPDIR: home };
    const worker = await startWorkron({ args: [...args, '--token-file', token], env, cwd: home, uid: JOBS });
    return { worker, token: made.stdout.trim() };
  };
  const bySocket = await startWorker('by-socket', `unix:${socket}`);
  const byPort = await startWorker('by-port', server.url);
  await using stack = new AsyncDisposableStack();
  for (const one of [server, bySocket.worker, byPort.worker]) stack.use(one);
  const uid = await call('run', '--queue', 'by-socket', '--', 'id -u');
  assert.equal(uid.stdout, `${JOBS}\n`, uid.stderr);
  server.signal('SIGKILL');
  await server.exited;
  const port = Number(new URL(server.url).port);
  {
    await using rogue = await startRogue(port, socket);
    const tried = rogue.lines.filter((line) => !line.startsWith('got')).toSorted();
    assert.deepEqual(tried, ['another EACCES', 'port listens', 'removing it EACCES', 'socket EADDRINUSE']);
    const heard = (token: string) => rogue.lines.filter((line) => line.includes(token)).length;
    // The port shows that the rogue hears what is sent to it.
    await eventually(() => heard(byPort.token) >= 3);
    assert.equal((await call('jobs')).code, 6);
    assert.equal(heard(bySocket.token), 0);
    assert.equal(heard(TOKEN), 0);
  }
  stack.use(await start(port));
  const again = await call('run', '--queue', 'by-socket', '--', 'echo again');
  assert.equal(again.stdout, 'again\n', again.stderr);
});

test('socket: a client sends nothing to a socket that another user made', { skip: NOT_ROOT }, async () => {
  await using scene = await setUp();
  const { root, own } = scene;
  const theirs = own('theirs', ROGUE);
  // As in /tmp: everybody can make folders.
  chmodSync(root, 0o1777);
  const path = join(theirs, 'workron.sock');
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end('{}');
  }).listen(path);
  await once(server, 'listening');
  chownSync(path, ROGUE, ROGUE);
  const called = await callWorkron(['jobs', '--url', `unix:${path}`], { env: { WORKRON_TOKEN: TOKEN } });
  assert.equal(called.code, 6);
  assert.match(called.stderr, /theirs belongs to another user/);
  await using workron = await open(`unix:${path}`, { token: TOKEN });
  await assert.rejects(workron.submit(job('noop'), {}), /belongs to another user/);
  server.close();
  assert.equal(requests, 0);
});

test('socket: a worker without a token sends none to a port that its server has left', {
  timeout: effort.waitMs,
}, async () => {
  await using folder = await temporaryFolder();
  const env = { XDG_STATE_HOME: join(folder.path, 'state') };
  const args = ['scheduler', '--port', '0', '--db-url', join(folder.path, 'w.db'), '--log-level', 'warn'];
  await using server = await startWorkron({ args, env, cwd: folder.path, ownToken: true });
  const worker = { args: ['worker', '--scheduler', server.url, '--log-level', 'error'], env, cwd: folder.path };
  await using _worker = await startWorkron(worker);
  const ran = await callWorkron(['run', '--', 'echo hi'], { env: { ...env, WORKRON_URL: server.url } });
  assert.equal(ran.stdout, 'hi\n', ran.stderr);
  server.signal('SIGKILL');
  await server.exited;
  const heard: string[] = [];
  const rogue = createServer((request, response) => {
    heard.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(503).end();
  }).listen(Number(new URL(server.url).port), '127.0.0.1');
  await once(rogue, 'listening');
  assert.equal((rogue.address() as AddressInfo).port, Number(new URL(server.url).port));
  // Longer than the pause between two tries of a worker.
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  rogue.closeAllConnections();
  rogue.close();
  assert.deepEqual(heard, []);
});
