/** Secrets by name: sealed in the store, true for the job, masked for everybody else. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { effort } from '../effort.ts';
import { callWorkron } from '../kit/command-line.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const VALUE = 'correct-horse-battery';

interface Job {
  id: string;
  status: string;
  error: string | null;
  result: unknown;
  progress: { text: string | null } | null;
}

async function keyFile(folder: string, ...keys: string[]): Promise<string> {
  const file = join(folder, 'keys');
  await writeFile(file, `${keys.join('\n')}\n`, { mode: 0o600 });
  return file;
}

const newKey = () => randomBytes(32).toString('base64');

test('secrets: a job gets the true value, and readers get ***', { timeout: 120_000 }, async () => {
  await using folder = await temporaryFolder();
  const [old, fresh] = [newKey(), newKey()];
  const db = join(folder.path, 'jobs.db');
  const args = ['up', '--port', '0', '--db-url', db, '--workers', '2', '--log-level', 'warn'];
  const keys = await keyFile(folder.path, old);
  await using up = await startWorkron({ args: [...args, '--secrets-key-file', keys] });
  const workron = (call: string[], stdin = '') => callWorkron(call, { env: { WORKRON_URL: up.url }, input: stdin });
  const ended = (job: unknown) =>
    api<Job>(up.url, '/jobs', job).then(({ id }) => api<Job>(up.url, `/jobs/${id}/wait?timeout=60s`));
  const output = async ({ id }: Job) => await (await fetch(`${up.url}/jobs/${id}/logs`)).text();

  assert.equal((await workron(['secrets', 'set', 'db-password'], `${VALUE}\n`)).stdout, 'secret db-password is set\n');
  assert.equal((await workron(['secrets', 'set', 'short'], 'hunter2\n')).code, 2, 'too short to be masked');
  assert.match((await workron(['secrets'])).stdout, /^db-password +[0-9a-f]{8} +yes/m);

  const env = { PW: { secret: 'db-password' } };
  const command = `[ "$PW" = '${VALUE.slice(0, 7)}''${VALUE.slice(7)}' ] && echo "pw=$PW"; printf '%s' "\${PW%?????}"; sleep 0.4; echo "\${PW#????????????????}"; echo "{\\"pw\\": \\"$PW\\"}" > "$WORKRON_OUTPUT"`;
  const job = await ended({ command, env });
  assert.equal(await output(job), 'pw=***\n***\n', 'also if it is printed in two parts');
  assert.deepEqual([job.status, job.result], ['done', { pw: '***' }]);
  const listed = await api<{ items: Job[] }>(up.url, '/jobs');
  assert.deepEqual(listed.items[0]?.result, { pw: '***' });
  await workron(['secrets', 'set', 'pin'], '12345678901\n');
  const pin = await ended({ command: `echo "{\\"pin\\": $PIN}" > "$WORKRON_OUTPUT"`, env: { PIN: { secret: 'pin' } } });
  assert.deepEqual(pin.result, { pin: '***' }, 'also as a number');
  await workron(['secrets', 'rm', 'pin']);
  assert.equal((await api<Job>(up.url, `/jobs/${pin.id}`)).result, '***', 'hidden, as nobody knows what to mask');
  const failed = await ended({ command: 'echo "bad $PW"; exit 1', env, max_attempts: 1 });
  assert.equal(failed.error, 'exit 1\nbad ***\n');

  const reporting = await ended({ command: 'echo "0.5 with $PW" > "$WORKRON_PROGRESS"', env });
  assert.equal(reporting.progress?.text, 'with ***');

  const child = await ended({
    command: `[ "$(cat "$WORKRON_PARENTS" | grep -c '${VALUE}')" = 1 ]`,
    depends_on: [job.id],
  });
  assert.equal(child.status, 'done', 'a child gets the true result');

  const deleted = await fetch(`${up.url}/jobs/${job.id}`, { method: 'DELETE' });
  assert.deepEqual(((await deleted.json()) as Job).result, { pw: '***' }, 'who deletes a job reads it');

  const missing = await ended({ command: 'true', env: { PW: { secret: 'nothing' } }, max_attempts: 1 });
  assert.match(missing.error ?? '', /there is no secret nothing; set it with: workron secrets set nothing/);
  assert.equal(
    (
      await fetch(`${up.url}/jobs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ command: 'true', env: { PW: { secret: 'No Name' } } }),
      })
    ).status,
    400,
  );

  await keyFile(folder.path, fresh, old);
  up.signal('SIGTERM');
  await up.exited;
  for (const file of ['jobs.db', 'jobs.db-wal']) {
    const bytes = await readFile(join(folder.path, file)).catch(() => Buffer.alloc(0));
    const places = bytes.toString('latin1').split(VALUE).length - 1;
    // The result that children get is stored as it is; the secret is not.
    assert.ok(places <= 2, `${file} has it ${places} times`);
  }

  {
    await using keyless = await startWorkron({ args });
    const { items } = await api<{ items: Job[] }>(keyless.url, '/jobs');
    const results = items.flatMap(({ result }) => (result === null ? [] : [result]));
    assert.deepEqual(results, ['***'], 'a process without the key hides results of jobs with secrets');
    keyless.signal('SIGTERM');
    await keyless.exited;
  }
  await using again = await startWorkron({ args: [...args, '--secrets-key-file', keys] });
  const rotate = await callWorkron(['secrets', 'rotate'], { env: { WORKRON_URL: again.url } });
  assert.equal(rotate.stdout, '1 sealed with the present key\n');
  again.signal('SIGTERM');
  await again.exited;
  await keyFile(folder.path, fresh);
  await using last = await startWorkron({ args: [...args, '--secrets-key-file', keys] });
  const { id } = await api<Job>(last.url, '/jobs', { command: 'echo "now $PW"', env });
  assert.equal((await api<Job>(last.url, `/jobs/${id}/wait?timeout=60s`)).status, 'done');
  assert.equal(await (await fetch(`${last.url}/jobs/${id}/logs`)).text(), 'now ***\n');
});

test('secrets: without a key nothing is stored, and a key that others can read is refused', {
  timeout: effort.waitMs,
}, async () => {
  await using folder = await temporaryFolder();
  await using up = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:', '--log-level', 'warn'] });
  const env = { WORKRON_URL: up.url };
  const { code, stderr } = await callWorkron(['secrets', 'set', 'a'], { env, input: VALUE });
  assert.notEqual(code, 0);
  assert.match(stderr, /no key for secrets.*--secrets-key-file/s);
  assert.equal((await callWorkron(['secrets', '--json'], { env })).stdout.trim(), '[]');
  const keys = await keyFile(folder.path, newKey());
  await chmod(keys, 0o644);
  await assert.rejects(
    startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:', '--secrets-key-file', keys] }),
    /secrets-key-file: all users of this machine may use/,
  );
  await assert.rejects(
    startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:', '--secrets-key-command', 'echo short'] }),
    /secrets-key-command: expected 32 bytes/,
  );
});

test('sealed input: commands get it here and over HTTP; readers, the file and an export do not', {
  timeout: 120_000,
}, async () => {
  await using folder = await temporaryFolder();
  const keys = await keyFile(folder.path, newKey());
  const db = join(folder.path, 'jobs.db');
  const args = ['--port', '0', '--db-url', db, '--log-level', 'warn', '--secrets-key-file', keys];
  await using up = await startWorkron({ args: ['up', '--workers', '1', '--queues', 'here', ...args] });
  await using _worker = await startWorkron({
    args: ['worker', '--scheduler', up.url, '--queues', 'there', '--log-level', 'warn'],
  });
  const workron = async (call: string[], input = '') => {
    const { code, stdout, stderr } = await callWorkron(call, { env: { WORKRON_URL: up.url }, input });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  for (const queue of ['here', 'there']) {
    const sealed = { command: 'wc -c', input: VALUE, seal_input: true, queue };
    const { id } = await api<Job>(up.url, '/jobs', sealed);
    assert.equal((await api<Job>(up.url, `/jobs/${id}/wait?timeout=60s`)).status, 'done');
    assert.equal((await (await fetch(`${up.url}/jobs/${id}/logs`)).text()).trim(), String(VALUE.length), queue);
  }
  const input = JSON.stringify({ card: VALUE });
  const [id = ''] =
    /\d+/.exec(await workron(['submit', '--handler', 'charge', '--input', input, '--seal-input'])) ?? [];
  const shown = await workron(['job', id]);
  assert.match(shown, /^input +sealed$/m);
  const { input: read, seal_input } = JSON.parse(await workron(['job', id, '--json'])) as Record<string, unknown>;
  assert.deepEqual([read, seal_input], [null, true]);
  const listed = await workron(['jobs', '--json']);
  const schedule = ['--every', '1h', '--handler', 'charge', '--input', input, '--seal-input'];
  const added = await workron(['schedule', 'add', 'hourly', ...schedule]);
  const edited = await workron(['schedule', 'edit', 'hourly', '--input', JSON.stringify([VALUE])]);
  const declared = await workron(['schedule', 'show', 'hourly', '--json']);
  assert.match(declared, /"seal_input":true/);
  const events = await (await fetch(`${up.url}/jobs/${id}/history`)).text();
  up.signal('SIGTERM');
  await up.exited;
  const exported = await workron(['export', '-', '--db-url', db]);
  assert.match(exported, /sealed_input/);
  const files = await Promise.all(
    ['jobs.db', 'jobs.db-wal'].map((name) => readFile(join(folder.path, name), 'latin1').catch(() => '')),
  );
  for (const text of [shown, listed, added, edited, declared, events, exported, ...files]) {
    assert.ok(!text.includes(VALUE), text.slice(0, 200));
  }
});
