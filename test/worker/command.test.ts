/** What becomes of a command: its outcome, its output, its result. */

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { Outcome } from '../../src/core/outcome.ts';
import { effort } from '../effort.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

function errorOf(outcome: Outcome): string {
  return 'error' in outcome ? (outcome.error ?? '') : '';
}

test('worker: a failed command reports its exit code and the end of its output', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [exit, signal, unknown, folder] = source.submit(
    { command: 'echo one; echo two >&2; exit 7' },
    { command: 'kill -KILL $$' },
    { command: 'no-such-program' },
    { command: 'true', cwd: '/no/such/folder' },
  ) as [number, number, number, number];
  assert.deepEqual(await source.commandOutcome(exit), {
    type: 'failed',
    exitCode: 7,
    signal: null,
    error: 'exit 7\none\ntwo\n',
  });
  assert.deepEqual(await source.commandOutcome(signal), {
    type: 'failed',
    exitCode: null,
    signal: 'SIGKILL',
    error: 'signal SIGKILL',
  });
  const missing = await source.outcome(unknown);
  assert.match(errorOf(missing), /^exit 127\n.*no-such-program/);
  assert.match(errorOf(await source.outcome(folder)), /working directory \/no\/such\/folder does not exist/);
  assert.equal(source.output(exit), 'one\ntwo\n');
});

test('worker: the error holds the last 2 KiB, cut between characters and clean', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [long, broken] = source.submit(
    { command: `printf 'é%.0s' $(seq 2000); printf x; exit 1` },
    { command: String.raw`printf 'a\000b\377c'; exit 1` },
  ) as [number, number];
  assert.equal(errorOf(await source.outcome(long)), `exit 1\n${'é'.repeat(1023)}x`);
  assert.equal(errorOf(await source.outcome(broken)), 'exit 1\na\uFFFDb\uFFFDc');
  assert.equal(source.output(broken), 'a\0b\xffc', 'what is stored is what was printed');
});

test('worker: a command may be longer than an argument can be', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [id] = source.submit({ command: `: ${'x'.repeat(500_000)}\necho "$0 $#"; exit 3` }) as [number];
  assert.equal(errorOf(await source.outcome(id)), 'exit 3\n/bin/sh 0\n');
});

test('worker: a command that exceeds its timeout is stopped, and the error names the setting', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `echo begun; setsid ${line}`, timeoutMs: 3_000 }) as [number];
  const outcome = await source.outcome(id);
  assert.equal(outcome.type, 'timed_out');
  assert.match(errorOf(outcome), /^timed out after 3s\nbegun\n/);
  assert.deepEqual(pidsOf(line), []);
});

test('worker: results come from key=value lines or JSON; what is neither, or too much, is a failure', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [lines, json, bad, big, failed, link, none] = source.submit(
    { command: 'echo "rows=12" >> $WORKRON_OUTPUT; echo "path=/a=b" >> $WORKRON_OUTPUT' },
    { command: `echo '{"rows": [1, 2], "text": "\\ud800\\u0000"}' > $WORKRON_OUTPUT` },
    { command: 'printf "rows=12\\nwhat is this\\n" > $WORKRON_OUTPUT' },
    { command: 'printf "x=" > $WORKRON_OUTPUT; head -c 1100000 /dev/zero | tr "\\0" y >> $WORKRON_OUTPUT' },
    { command: 'echo rows=12 > $WORKRON_OUTPUT; exit 1' },
    { command: 'ln -s /etc/hostname $WORKRON_OUTPUT' },
    { command: 'echo $WORKRON_OUTPUT' },
  ) as [number, number, number, number, number, number, number];
  assert.deepEqual(await source.commandOutcome(lines), {
    type: 'succeeded',
    exitCode: 0,
    result: { rows: '12', path: '/a=b' },
  });
  assert.deepEqual(await source.commandOutcome(json), {
    type: 'succeeded',
    exitCode: 0,
    result: { rows: [1, 2], text: '\uFFFD\uFFFD' },
  });
  assert.match(errorOf(await source.outcome(bad)), /^exit 0, but \$WORKRON_OUTPUT, line 2: expected key=value/);
  assert.match(errorOf(await source.outcome(big)), /^exit 0, but the result .* 1 MiB/);
  assert.equal((await source.outcome(failed)).type, 'failed');
  assert.equal((await source.outcome(link)).type, 'failed');
  assert.deepEqual(await source.commandOutcome(none), { type: 'succeeded', exitCode: 0 });
  assert.equal(
    existsSync(
      source
        .output(none)
        .trim()
        .replace(/result-\d+-1$/, `result-${lines}-1`),
    ),
    false,
  );
});

test('worker: a command sees its job and an allow list, never the secrets of the server', async () => {
  process.env['WORKRON_TOKEN'] = 'secret-token';
  process.env['DATABASE_URL'] = 'secret-url';
  process.env['LC_TEST'] = 'kept';
  try {
    const source = new ScriptedSource();
    await using _ = new TestWorker(source);
    const [id] = source.submit({
      command: 'env',
      queue: 'mail',
      env: { GREETING: 'hi', WORKRON_JOB_ID: 'forged' },
    }) as [number];
    await source.outcome(id);
    const env = Object.fromEntries(
      source
        .output(id)
        .split('\n')
        .map((line) => line.split(/=(.*)/s) as [string, string]),
    );
    assert.deepEqual(
      [env['WORKRON_JOB_ID'], env['WORKRON_ATTEMPT'], env['WORKRON_QUEUE'], env['GREETING'], env['LC_TEST']],
      [String(id), '1', 'mail', 'hi', 'kept'],
    );
    assert.equal(env['PATH'], process.env['PATH']);
    assert.doesNotMatch(source.output(id), /secret/);
  } finally {
    delete process.env['WORKRON_TOKEN'];
    delete process.env['DATABASE_URL'];
    delete process.env['LC_TEST'];
  }
});

test('worker: output is followed while the command runs', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `echo first; ${line}` }) as [number];
  await source.until(() => source.output(id) === 'first\n');
  assert.equal(source.settlements.length, 0);
});

test('worker: a chunk whose request or answer is lost is sent again at the same offset, and nothing overtakes it', async () => {
  const source = new ScriptedSource();
  let [requests, answers] = [2, 2];
  source.before('writeOutput', () => {
    if (requests-- > 0) throw new Error('request lost');
  });
  source.after('writeOutput', () => {
    if (answers-- > 0) throw new Error('answer lost');
  });
  await using _ = new TestWorker(source);
  const [id] = source.submit({ command: 'seq 1 60000' }) as [number];
  await source.outcome(id);
  const stored = new Map(source.chunks.map(({ offset, data }) => [offset, data]));
  const text = Buffer.concat([...stored].sort(([a], [b]) => a - b).map(([, data]) => data)).toString();
  assert.equal(text, Array.from({ length: 60_000 }, (_, n) => `${n + 1}\n`).join(''));
  assert.ok(source.chunks.length > stored.size, 'something was sent twice');
});

test('worker: a noisy command waits for a slow scheduler, and memory stays flat', async () => {
  const source = new ScriptedSource();
  source.keepOutput = false;
  source.before('writeOutput', () => new Promise((resolve) => setImmediate(resolve)));
  await using _ = new TestWorker(source);
  const [warm] = source.submit({ command: 'seq 1 300000' }) as [number];
  await source.outcome(warm);
  const before = process.memoryUsage.rss();
  source.outputBytes = 0;
  let most = 0;
  source.after('writeOutput', () => {
    most = Math.max(most, process.memoryUsage.rss() - before);
  });
  const [id] = source.submit({ command: `yes | head -c ${effort.noisyBytes}` }) as [number];
  assert.equal((await source.outcome(id)).type, 'succeeded');
  assert.equal(source.outputBytes, effort.noisyBytes);
  assert.ok(most < 80_000_000, `memory grew by ${most} bytes`);
});

test('worker: a command that prints into a scheduler that does not answer is held back', async () => {
  const source = new ScriptedSource();
  source.keepOutput = false;
  const gate = Promise.withResolvers<void>();
  source.before('writeOutput', () => gate.promise);
  await using _ = new TestWorker(source);
  const line = longSleep();
  const [id] = source.submit({ command: `yes | head -c 1000000; ${line}` }) as [number];
  await untilAlive('head -c 1000000', 1);
  await source.until(() => source.beats.length > 20);
  assert.deepEqual(pidsOf(line), [], 'head still waits for its pipe');
  gate.resolve();
  await untilAlive(line, 1);
  await source.until(() => source.outputBytes === 1_000_000);
  source.cancel.push({ jobId: id, attempt: 1 });
  await source.outcome(id);
});
