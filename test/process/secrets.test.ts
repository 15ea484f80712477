/** What a job can find out about the server that runs under the same user. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { callWorkron, plainEnvironment } from '../kit/command-line.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const OTHER = 65_533;
const root = join(import.meta.dirname, '..', '..');

/** A server under root runs its commands in a PID namespace, where they see no other processes. */
function whyNot(): string | false {
  if (process.getuid?.() !== 0) return 'only root can act as another user';
  const reads = spawnSync('test', ['-x', join(root, 'bin', 'workron')], { uid: OTHER, gid: OTHER });
  return reads.status === 0 ? false : 'other users cannot read this folder';
}

test('secrets: a job finds neither token nor database password in /proc', { skip: whyNot() }, async () => {
  await using folder = await temporaryFolder();
  chownSync(folder.path, OTHER, OTHER);
  // Commands of other tests are visible too.
  const secrets = ['token', 'variable', 'flag'].map((name) => `${name}-${randomUUID()}`);
  await using server = await startWorkron({
    args: ['up', '--port', '0', '--db-url=memory:', '--notify-secret', `${secrets[2]}`, '--log-level', 'warn'],
    env: { WORKRON_TOKEN: `${secrets[0]}`, PGPASSWORD: `${secrets[1]}`, HOME: folder.path, TMPDIR: folder.path },
    cwd: folder.path,
    uid: OTHER,
  });
  const all = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'";
  const memory = `head -c 1 /proc/${server.pid}/maps >/dev/null 2>&1 && echo memory can be read`;
  const visible = `test -r /proc/${server.pid}/cmdline && echo server is visible`;
  // The brackets keep grep from finding its own arguments.
  const patterns = secrets.map((secret) => `-e '[${secret[0]}]${secret.slice(1)}'`).join(' ');
  const command = `${visible}; ${all} | grep -a ${patterns}; ${memory}; true`;
  const call = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${secrets[0]}`, 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, init);
    assert.ok(response.ok, `${path} ${response.status}`);
    return response;
  };
  const { id } = (await (await call('/jobs', { command })).json()) as { id: string };
  const job = (await (await call(`/jobs/${id}/wait?timeout=60s`)).json()) as { status: string };
  assert.equal(job.status, 'done');
  assert.equal(await (await call(`/jobs/${id}/logs`)).text(), 'server is visible\n');
});

test('database: a server does not start in a folder of root that all users can write to', {
  skip: whyNot(),
}, async () => {
  await using folder = await temporaryFolder();
  chmodSync(folder.path, 0o777);
  const args = ['up', '--port', '0', '--db-url', join(folder.path, 'w.db'), '--log-level', 'warn'];
  const start = () => startWorkron({ args, env: { HOME: folder.path, TMPDIR: folder.path }, uid: OTHER });
  await assert.rejects(
    start(),
    /can be written to by all users: .*choose another folder by --db-url, or make it yours/s,
  );
  assert.equal(existsSync(join(folder.path, 'w.db')), false);
  chownSync(folder.path, OTHER, OTHER);
  await using server = await start();
  assert.equal((await fetch(`${server.url}/health`)).status, 200);
  assert.equal(statSync(folder.path).mode & 0o7777, 0o775);
});

test('secrets: a descriptor that bin/workron did not set is a usage error', async () => {
  for (const stray of ['9', '0', '77', 'x', '']) {
    const { code, stderr } = await callWorkron(['help'], { env: { WORKRON_SECRETS_FD: stray } });
    assert.equal(code, 2, stray);
    assert.match(stderr, /^error: WORKRON_SECRETS_FD: .*\nhint: unset .*\n$/);
  }
});

test('secrets: one of several lines is refused, as it would stay visible', () => {
  const secret = 'first\nsecond';
  for (const [args, env] of [
    [['up', '--token', secret], {}],
    [['worker', `--db-url=${secret}`], {}],
    [['scheduler'], { WORKRON_TOKEN: secret }],
  ] as const) {
    // Without a pipe to stdin: the program ends before anything could be written to it.
    const { status, stderr } = spawnSync(join(root, 'bin', 'workron'), args, {
      env: plainEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    assert.deepEqual([status, /^error: \S+: expected one line\n$/.test(stderr)], [2, true], stderr);
  }
});
