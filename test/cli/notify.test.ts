import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { callWorkron } from '../kit/command-line.ts';
import { type HookReceiver, openHookReceiver } from '../kit/hook-receiver.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const stack = new AsyncDisposableStack();
let receiver: HookReceiver;
let server: WorkronProcess;

before(async () => {
  receiver = stack.use(await openHookReceiver());
  const folder = stack.use(await temporaryFolder()).path;
  const args = ['up', '--port', '0', '--db-url', join(folder, 'jobs.db'), '--log-level', 'warn'];
  const env = {
    WORKRON_NOTIFY: JSON.stringify([{ on: ['failed'], webhook: `${receiver.url}/own` }]),
    WORKRON_NOTIFY_ALLOW_PRIVATE: '127.0.0.1',
  };
  server = stack.use(await startWorkron({ args, env, cwd: folder }));
});
after(() => stack.disposeAsync());

const notify = (...words: string[]) => callWorkron(['notify', 'test', ...words], { env: { WORKRON_URL: server.url } });

test('notify test: tells of each target whether the message was delivered, and fails if one was not', async () => {
  const good = await notify(`failed=${receiver.url}/hook`, 'done=test "$WORKRON_NOTIFY_TEST" = true');
  assert.equal(good.code, 0, good.stderr);
  assert.match(good.stdout, /^1\. webhook: delivered \(job \d+\)\n2\. command: delivered \(job \d+\)\n$/);
  assert.equal(receiver.received.at(-1)?.path, '/hook');

  receiver.answers.push({ status: 404 });
  const bad = await notify('--installation', '1');
  assert.equal(bad.code, 1, bad.stderr);
  assert.match(bad.stdout, /^1\. webhook: not delivered \(job \d+\): .*answered 404\n$/);
  assert.equal(receiver.received.at(-1)?.path, '/own');
  assert.doesNotMatch(bad.stdout, /\/own/);
});

test("notify: lists the server's own targets, without addresses", async () => {
  const listed = await callWorkron(['notify'], { env: { WORKRON_URL: server.url } });
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /NUMBER +TARGET +EVENTS\n +1 +webhook +failed\n/);
  assert.doesNotMatch(listed.stdout, /own/);
});

test('notify test: what cannot be meant is refused, and nothing is sent', async () => {
  const before = receiver.received.length;
  for (const [words, says, code] of [
    [[], /expected targets or --installation/, 2],
    [['failed=https://example.com', '--installation', 'all'], /expected targets or --installation/, 2],
    [['https://example.com/hook'], /expected/, 2],
    [['exploded=https://example.com/hook'], /expected failed/, 2],
    [['--installation', '0'], /expected a whole number/, 2],
    [['--installation', '2'], /has 1 target/, 3],
  ] as const) {
    const answer = await notify(...words);
    assert.equal(answer.code, code, `${words.join(' ')}: ${answer.stderr}`);
    assert.match(answer.stderr, says);
  }
  assert.equal(receiver.received.length, before);
});
