/** Servers with a certificate of their own, and everything that talks to them. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { Client } from '../../src/client.ts';
import { isWorkronError, job, open } from '../../src/index.ts';
import { nodeTransport } from '../../src/ops/node-http.ts';
import { authority, first, second, type TestPair, writePair } from '../kit/certificates.ts';
import { callWorkron } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const TOKEN = 'token-of-this-test';
const UNTRUSTED = /certificate is not trusted: [^;]+; set --ca/;

async function setUp(pair: TestPair = first, { args = ['up'], ...options }: { args?: string[]; ownToken?: true } = {}) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  const files = writePair(folder, pair);
  const env: Record<string, string> = { XDG_STATE_HOME: join(folder, 'state') };
  if (!options.ownToken) env['WORKRON_TOKEN'] = TOKEN;
  const store = ['--db-url', 'memory:', '--port', '0'];
  const server = stack.use(
    await startWorkron({ args: [...args, ...store, ...files.args], env, cwd: folder, ...options }),
  );
  const ca = join(folder, 'ca.pem');
  writeFileSync(ca, pair === second ? authority : pair.cert);
  const workron = (words: readonly string[], more: Record<string, string> = {}) =>
    callWorkron(words, { env: { ...env, WORKRON_URL: server.url, ...more }, cwd: folder });
  return {
    server,
    url: server.url,
    folder,
    files,
    env,
    ca,
    workron,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The name of the certificate that new connections get. */
async function servedName(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  const socket = connectTls({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

describe('tls: one server', () => {
  let scene: Awaited<ReturnType<typeof setUp>>;
  before(async () => {
    scene = await setUp(second);
  });
  after(() => scene[Symbol.asyncDispose]());

  test('tls: the command line trusts an authority by flag, variable, file and profile', async () => {
    const { workron, ca, folder, url, server } = scene;
    assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
    assert.match(server.output(), /TLS +certificate for localhost, 127\.0\.0\.1, valid until 2126-/);
    const ran = await workron(['run', '--ca', ca, '--', 'echo hi']);
    assert.deepEqual([ran.code, ran.stdout], [0, 'hi\n'], ran.stderr);
    assert.equal((await workron(['jobs'], { WORKRON_CA: ca })).code, 0);
    writeFileSync(join(folder, 'with-ca.yaml'), `ca: ${ca}\n`);
    assert.equal((await workron(['jobs', '--config', 'with-ca.yaml'])).code, 0);

    const home = { XDG_CONFIG_HOME: join(folder, 'config'), WORKRON_URL: '' };
    const set = await workron(['config', 'set', 'prod', '--url', url, '--ca', 'ca.pem'], home);
    assert.equal(set.code, 0, set.stderr);
    assert.equal((await workron(['--profile', 'prod', 'jobs'], home)).code, 0);
    assert.match((await workron(['config', 'show', 'prod'], home)).stdout, /\nca {10}\/.*ca\.pem\n$/);
  });

  test('tls: a server whose authority is not trusted gets no token, and the message says what to do', async () => {
    const { workron, folder, url } = scene;
    const [none, wrong] = [await workron(['jobs']), await workron(['jobs', '--ca', join(folder, 'wrong.pem')])];
    assert.deepEqual([none.code, wrong.code], [6, 2]);
    assert.match(none.stderr, UNTRUSTED);
    assert.match(wrong.stderr, /ca: cannot read .*wrong\.pem/);
    writeFileSync(join(folder, 'wrong.pem'), first.cert);
    const other = await workron(['jobs', '--ca', join(folder, 'wrong.pem')]);
    assert.equal(other.code, 6);
    assert.match(other.stderr, UNTRUSTED);
    writeFileSync(join(folder, 'text.pem'), 'no certificate');
    assert.match(
      (await workron(['jobs', '--ca', 'text.pem'])).stderr,
      /ca: expected certificates in PEM format in text/,
    );
    const plain = await workron(['jobs', '--url', url.replace('https', 'http')]);
    assert.equal(plain.code, 6);
    assert.match(
      plain.stderr,
      /cannot connect to Workron at http:.*\nhint: the connection was closed without an answer; if the server speaks https: --url https:/,
    );
  });

  test('tls: a file of the working directory does not say which authority gets a token', async () => {
    const { workron, folder, ca } = scene;
    writeFileSync(join(folder, 'workron.yaml'), `ca: ${ca}\n`);
    const { code, stderr } = await workron(['jobs']);
    writeFileSync(join(folder, 'workron.yaml'), '');
    assert.equal(code, 2);
    assert.match(
      stderr,
      /refusing to send the token of WORKRON_TOKEN to a server that the working directory vouches for/,
    );
  });

  test('tls: the library submits, waits and works over https with an authority', async () => {
    const { url } = scene;
    const double = job('double', { run: (n: number) => n * 2 });
    await using workron = await open(url, { token: TOKEN, ca: authority, log: 'silent' });
    await workron.start({ jobs: [double] });
    assert.equal(await (await workron.submit(double, 21)).result(), 42);

    await using stranger = await open(url, { token: TOKEN, log: 'silent' });
    await assert.rejects(stranger.submit(double, 1), (error: Error) => {
      assert.match(error.message, /certificate is not trusted: .*in the library: ca/);
      return isWorkronError(error, 'unreachable');
    });
    await assert.rejects(open(url, { ca: 'nonsense' }), /ca: expected certificates in PEM format/);

    const plainUrl = url.replace('https', 'http');
    await using plain = await open(plainUrl, { token: TOKEN, log: 'silent' });
    await assert.rejects(plain.submit(double, 1), /closed; if it speaks https: https:/);
    const byNode = new Client({ url: plainUrl, transport: nodeTransport() });
    await assert.rejects(byNode.readHealth(), /socket hang up; if it speaks https: https:/);
  });

  test('tls: the cookie of a session is for https only, and the welcome names https', async () => {
    const { url } = scene;
    const ask = nodeTransport({ ca: authority });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const opened = await ask(`${url}/session`, { method: 'POST', headers, body: undefined, signal: undefined });
    assert.match(opened.header('set-cookie') ?? '', /; HttpOnly; SameSite=Strict; Secure$/);
    const welcome = await ask(`${url}/`, { method: 'GET', headers, body: undefined, signal: undefined });
    assert.match(await welcome.text(), /https:\/\/127\.0\.0\.1:\d+\/jobs/);
  });
});

test('tls: the user of a server without a token needs neither token nor authority, and links lead to https', async () => {
  await using scene = await setUp(first, { ownToken: true });
  const { workron, url, server } = scene;
  assert.match(server.output(), /dashboard +https:\/\/127\.0\.0\.1:\d+\/ui\/#link=/);
  for (const address of [url, url.replace('https', 'http')]) {
    const env = { WORKRON_URL: address };
    assert.equal((await workron(['run', '--', 'echo by the socket'], env)).stdout, 'by the socket\n');
    assert.ok((await workron(['auth', 'link'], env)).stdout.startsWith(`${url}/ui/#link=`));
    assert.equal((await workron(['open', '--print'], env)).stdout, `${url}/ui/\n`);
  }
});

test('tls: a worker over https works, and its launcher reports its end', { timeout: 120_000 }, async () => {
  // A lease that outlasts the test: the job comes back only by the report.
  await using scene = await setUp(second, { args: ['scheduler', '--lease', '30m'] });
  const { url, env, ca, folder } = scene;
  const client = new Client({ url, token: TOKEN, transport: nodeTransport({ ca: authority }) });
  const startWorker = () => startWorkron({ args: ['worker', '--scheduler', url, '--ca', ca], env, cwd: folder });
  await using killed = await startWorker();
  const { id } = await client.submit({ command: 'if [ $WORKRON_ATTEMPT = 1 ]; then sleep 300; fi' });
  await eventually(async () => (await client.readJob(id)).status === 'running');
  await using _other = await startWorker();
  killed.signal('SIGKILL');
  assert.equal((await client.waitJob(id, { timeout: '1m' })).status, 'done');

  await using distrustful = await startWorkron({
    args: ['worker', '--scheduler', url],
    env,
    cwd: folder,
    until: /certificate is not trusted/,
  });
  assert.doesNotMatch(distrustful.output(), /worker registered/);
});

test('tls: a new certificate is taken over, a broken one is not', { timeout: 120_000 }, async () => {
  await using scene = await setUp(first);
  const { server, url, folder, files } = scene;
  assert.equal(await servedName(url), 'first');
  const client = new Client({ url, token: TOKEN, transport: nodeTransport({ ca: first.cert }) });
  assert.equal((await client.listJobs()).items.length, 0);

  writeFileSync(files.key, second.key);
  await eventually(() => server.output().includes('the new TLS certificate cannot be used; the previous one stays'));
  assert.match(server.output(), /tls\.key is not the key of the first certificate/);
  assert.equal(await servedName(url), 'first');

  writePair(folder, second);
  await eventually(async () => (await servedName(url)) === 'second');
  assert.match(server.output(), /the TLS certificate was read again/);
  const renewed = new Client({ url, token: TOKEN, transport: nodeTransport({ ca: authority }) });
  assert.equal((await renewed.listJobs()).items.length, 0);
});

test('tls: a server that waits for its database speaks https', { timeout: 120_000 }, async () => {
  await using folder = await temporaryFolder();
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  const { args } = writePair(folder.path, first);
  const serving = /waits for its database; (https:\S+)\/ready/;
  await using server = await startWorkron({
    args: ['up', '--port', '0', '--db-url', `postgres://127.0.0.1:${port}/none`, ...args],
    cwd: folder.path,
    until: serving,
  });
  const url = serving.exec(server.output())?.[1] as string;
  const ask = nodeTransport({ ca: first.cert });
  const ready = await ask(`${url}/ready`, { method: 'GET', headers: {}, body: undefined, signal: undefined });
  assert.equal(ready.status, 503);
  assert.match(await ready.text(), /waiting for the database/);
});

test('tls: files that cannot be used are refused at the start', async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const start = async (...words: string[]) => {
    const called = await callWorkron(['up', '--port', '0', '--db-url', 'memory:', ...words], { cwd: folder.path });
    assert.equal(called.code, 2, called.stderr);
    return called.stderr;
  };
  const { args, cert, key } = writePair(folder.path, first);
  assert.match(await start('--tls-cert', cert), /expected both tls-cert and tls-key, or none of them/);
  assert.match(await start('--tls-key', key), /expected both tls-cert and tls-key, or none of them/);
  assert.match(await start('--tls-cert', at('gone'), '--tls-key', key), /tls-cert: cannot read .*gone/);
  assert.match(await start('--tls-cert', cert, '--tls-key', at('gone')), /tls-key: cannot read .*gone/);
  assert.match(await start('--tls-cert', key, '--tls-key', key), /tls-cert: expected a certificate in PEM format/);
  chmodSync(cert, 0o600);
  assert.match(await start('--tls-cert', cert, '--tls-key', cert), /tls-key: expected a private key in PEM format/);
  writeFileSync(key, second.key);
  assert.match(await start(...args), /tls\.key is not the key of the first certificate in .*tls\.pem/);
  chmodSync(key, 0o644);
  assert.match(await start(...args), /tls-key: all users of this machine may use .*tls\.key/);
});
