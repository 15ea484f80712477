/** What a command reports through files: checkpoints, progress, and when it wants to run again. */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { WorkronError } from '../../src/core/error.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

/** Writes the text in `content` as a checkpoint, as a whole. */
const save = (content: string) =>
  `printf '%s' ${content} > $WORKRON_CHECKPOINT.new && mv $WORKRON_CHECKPOINT.new $WORKRON_CHECKPOINT`;

const textsOf = (source: ScriptedSource) => source.checkpoints.map(({ data }) => data.toString());

test('checkpoint: each version is stored while the command runs, and the last one at its end', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [id] = source.submit({
    command: `${save('one')}; while [ ! -e $TMPDIR/stored-$$ ]; do sleep 0.1; done; ${save('two')}; exit 3`,
    env: { TMPDIR: '/nonexistent' },
    timeoutMs: 2_500,
    killGraceMs: 0,
  }) as [number];
  await source.until(() => textsOf(source).includes('one'));
  assert.equal((await source.outcome(id)).type, 'timed_out', 'and it had not ended by itself');
  const [fast] = source.submit({ command: `${save('first')}; ${save('last')}; exit 3` }) as [number];
  assert.equal((await source.outcome(fast)).type, 'failed');
  assert.deepEqual(textsOf(source), ['one', 'last']);
});

test('checkpoint: the next attempt reads what the one before stored; the first finds no file', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const command = `[ -e $WORKRON_LAST_CHECKPOINT ] && cat $WORKRON_LAST_CHECKPOINT; ${save('"step $WORKRON_ATTEMPT"')}; exit 1`;
  const [id] = source.submit({ command }) as [number];
  await source.outcome(id);
  assert.equal(source.output(id), '');
  source.submitAgain(id, 2, { command });
  await source.outcome(id, 2);
  assert.equal(source.output(id, 2), 'step 1');
  assert.deepEqual(textsOf(source), ['step 1', 'step 2']);
});

test('checkpoint: one that could not be stored at the end is sent again before the outcome; one that is refused is not', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  let lost = 0;
  const undo = source.before('writeCheckpoint', () => {
    lost += 1;
    if (lost < 3) throw new WorkronError('unreachable', 'away');
  });
  const [again] = source.submit({ command: `${save('kept')}; exit 1` }) as [number];
  await source.outcome(again);
  assert.deepEqual([lost, textsOf(source)], [3, ['kept']]);
  undo();
  source.before('writeCheckpoint', () => {
    throw new WorkronError('payload_too_large', 'too much');
  });
  const [refused] = source.submit({ command: `${save('x')}; exit 1` }) as [number];
  await source.outcome(refused);
  assert.match(source.output(refused), /workron: the checkpoint was not stored: too much/);
});

test('checkpoint: a worker that lost the attempt stores nothing, and its command still ends', async () => {
  const source = new ScriptedSource();
  source.holdsOutput = false;
  await using _ = new TestWorker(source);
  const [id] = source.submit({ command: `${save('late')}; exit 1` }) as [number];
  assert.equal((await source.outcome(id)).type, 'failed');
  assert.deepEqual(source.checkpoints, []);
});

test('checkpoint: links, pipes and folders are not followed, too large ones are refused with a note', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const ids = source.submit(
    { command: 'ln -s /etc/passwd $WORKRON_CHECKPOINT; exit 1', killGraceMs: 0 },
    { command: 'mkfifo $WORKRON_CHECKPOINT; exit 1' },
    { command: 'mkdir $WORKRON_CHECKPOINT; exit 1' },
    { command: 'truncate -s 67108865 $WORKRON_CHECKPOINT; exit 1' },
  );
  for (const id of ids) await source.outcome(id);
  assert.deepEqual(source.checkpoints, []);
  assert.match(source.output(ids[3] as number), /has 67108865 bytes, and at most 67108864 are/);
});

test('checkpoint: nothing is left of files and drafts when the command has ended', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source, { profile: { slots: 1 } });
  const [id] = source.submit({
    command: `${save('x')}; touch $WORKRON_CHECKPOINT.draft; echo 0.5 > $WORKRON_PROGRESS; echo $WORKRON_CHECKPOINT; exit 1`,
  }) as [number];
  await source.outcome(id);
  const path = source.output(id).trim();
  source.submitAgain(id, 2, { command: 'exit 1' });
  await source.outcome(id, 2);
  const names = readdirSync(dirname(path)).filter((name) => !name.startsWith('pipes-'));
  assert.deepEqual(names, []);
});

test('progress: the last line counts, as a fraction or in percent; other lines are no progress', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const cases: [string, { fraction: number; text: string | null } | undefined][] = [
    ['0.25 loading\\n0.5  half of it\\n', { fraction: 0.5, text: 'half of it' }],
    ['40% done so far', { fraction: 0.4, text: 'done so far' }],
    ['1', { fraction: 1, text: null }],
    ['7 too much', { fraction: 1, text: 'too much' }],
    ['soon', undefined],
    ['-1 x', undefined],
  ];
  for (const [written, progress] of cases) {
    const [id] = source.submit({ command: `printf '${written.replaceAll('%', '%%')}' > $WORKRON_PROGRESS` }) as [
      number,
    ];
    await source.outcome(id);
    assert.deepEqual(source.reports.findLast(({ jobId }) => jobId === id)?.progress, progress, written);
  }
});

test('progress: it is reported while the command runs', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [id] = source.submit({ command: 'echo "0.3 begun" > $WORKRON_PROGRESS; exec sleep 300' }) as [number];
  const report = await source.until(() => source.reports.find(({ jobId }) => jobId === id));
  assert.deepEqual(report.progress, { fraction: 0.3, text: 'begun' });
});

test('retry after: with exit 0 the job is snoozed, else it has failed and is retried after that delay', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [snoozed, failed, bad, badFailed, stopped] = source.submit(
    { command: 'echo 30s > $WORKRON_RETRY_AFTER' },
    { command: 'echo 1h30m > $WORKRON_RETRY_AFTER; exit 7' },
    { command: 'echo soon > $WORKRON_RETRY_AFTER' },
    { command: 'echo 9999d > $WORKRON_RETRY_AFTER; exit 7' },
    { command: 'echo 30s > $WORKRON_RETRY_AFTER; exec sleep 300', timeoutMs: 500, killGraceMs: 0 },
  ) as [number, number, number, number, number];
  assert.deepEqual(await source.commandOutcome(snoozed), { type: 'snoozed', delayMs: 30_000 });
  assert.deepEqual(await source.commandOutcome(failed), {
    type: 'failed',
    exitCode: 7,
    signal: null,
    error: 'exit 7',
    retryAfterMs: 5_400_000,
  });
  const refused = await source.outcome(bad);
  assert.ok(refused.type === 'failed' && /expected a duration such as 30s.*got "soon"/.test(refused.error));
  const also = await source.outcome(badFailed);
  assert.ok(also.type === 'failed' && also.retryAfterMs === undefined && /^exit 7; .*got "9999d"/.test(also.error));
  assert.equal((await source.outcome(stopped)).type, 'timed_out');
});
