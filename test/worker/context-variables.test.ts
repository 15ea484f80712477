/** What commands and handlers find of the workflow, item and parents around them. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { ParentEnd, RunContext } from '../../src/core/job.ts';
import type { TickOfJob } from '../../src/core/schedule/tick.ts';
import { ScriptedSource } from '../kit/scripted-source.ts';
import { TestWorker } from '../kit/worker.ts';

const NAMES = /^WORKRON_(PARAM|ITEM|INDEX|PARENT|SCHEDULE|INTERVAL|IS_CATCHUP|KEY|WORKFLOW|STEP)/;

function around(more: Partial<RunContext>): RunContext {
  return { workflow: null, params: {}, item: null, parents: [], ...more };
}

function parent(key: string, result: unknown, more: Partial<ParentEnd> = {}): ParentEnd {
  return { jobId: 7, key, status: 'done', result, ...more };
}

/** The variables that a command with these runContext finds, without the file's. */
async function variables(
  runContext: RunContext | null,
  tick: TickOfJob | null = null,
): Promise<Record<string, string>> {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [id] = source.submit({ command: `env -0 | sed -z 's/\\n/\\\\n/g' | tr '\\0' '\\n'`, runContext, tick }) as [
    number,
  ];
  assert.equal((await source.outcome(id)).type, 'succeeded');
  const entries = source
    .output(id)
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const)
    .filter(([name]) => NAMES.test(name) && name !== 'WORKRON_PARENTS');
  return Object.fromEntries(entries);
}

test('worker: parameters are variables, whatever is in them; a list has none', async () => {
  const params = { 'start-date': '$(rm -rf /) "x"', tries: 3, 'dry-run': true, files: ['a'] };
  assert.deepEqual(await variables(around({ params })), {
    WORKRON_PARAM_START_DATE: '$(rm -rf /) "x"',
    WORKRON_PARAM_TRIES: '3',
    WORKRON_PARAM_DRY_RUN: 'true',
  });
});

test('worker: a step knows its workflow and its key', async () => {
  assert.deepEqual(await variables(around({ workflow: { id: 7, step: 'load' } })), {
    WORKRON_WORKFLOW_ID: '7',
    WORKRON_STEP: 'load',
  });
});

test('worker: an item is text as it is, everything else as JSON, with its place', async () => {
  assert.deepEqual(await variables(around({ item: { value: 'a "b".csv', index: 3 } })), {
    WORKRON_ITEM: 'a "b".csv',
    WORKRON_INDEX: '3',
  });
  const item = (await variables(around({ item: { value: { id: 1, list: ['x'] }, index: 0 } })))['WORKRON_ITEM'];
  assert.equal(item, '{"id":1,"list":["x"]}');
});

test('worker: the tick that a command runs for is in its variables; its key is its item, unless it is an item', async () => {
  const tick: TickOfJob = {
    schedule: 'nightly',
    line: 1,
    key: 'tenant-a',
    kind: 'tick',
    scheduledFor: Date.UTC(2026, 0, 2, 1),
    intervalStart: Date.UTC(2026, 0, 1, 1),
    intervalEnd: Date.UTC(2026, 0, 2, 1),
    catchup: true,
  };
  const told = {
    WORKRON_SCHEDULE: 'nightly',
    WORKRON_SCHEDULED_FOR: '2026-01-02T01:00:00.000Z',
    WORKRON_INTERVAL_START: '2026-01-01T01:00:00.000Z',
    WORKRON_INTERVAL_END: '2026-01-02T01:00:00.000Z',
    WORKRON_IS_CATCHUP: 'true',
    WORKRON_KEY: 'tenant-a',
  };
  assert.deepEqual(await variables(null, tick), { ...told, WORKRON_ITEM: 'tenant-a' });
  const item = { value: 'file', index: 0 };
  assert.deepEqual(await variables(around({ item }), tick), { ...told, WORKRON_ITEM: 'file', WORKRON_INDEX: '0' });
});

test('worker: scalars of parents are variables, within 4 KiB each and 64 KiB together', async () => {
  const found = await variables(
    around({
      parents: [
        parent('load-all', { rows: 12, 'file.name': 'a b', ok: false, list: [1], none: null, long: 'x'.repeat(4_097) }),
        parent('my job é', { a: '1' }),
        parent('plain', 'text'),
        parent('gone', null, { status: 'skipped' }),
      ],
    }),
  );
  assert.deepEqual(found, {
    WORKRON_PARENT_LOAD_ALL_ROWS: '12',
    WORKRON_PARENT_LOAD_ALL_FILE_NAME: 'a b',
    WORKRON_PARENT_LOAD_ALL_OK: 'false',
    WORKRON_PARENT_MY_JOB___A: '1',
  });
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 'x'.repeat(4_096)]));
  assert.equal(Object.keys(await variables(around({ parents: [parent('big', many)] }))).length, 16);
});

test('worker: all that parents left is in a file that goes with the attempt', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const parents = [
    parent('count', [{ lines: '3' }, null]),
    parent('count', { again: true }, { jobId: 8 }),
    parent('check', null, { jobId: 9, status: 'failed' }),
  ];
  const [id, alone] = source.submit(
    { command: 'echo "$WORKRON_PARENTS"; cat "$WORKRON_PARENTS"', runContext: around({ parents }) },
    { command: 'echo "[${WORKRON_PARENTS-none}]"', runContext: around({}) },
  ) as [number, number];
  await Promise.all([source.outcome(id), source.outcome(alone)]);
  const [path = '', ...rest] = source.output(id).split('\n');
  assert.deepEqual(JSON.parse(rest.join('\n')), {
    count: { job_id: '7', status: 'done', result: [{ lines: '3' }, null] },
    8: { job_id: '8', status: 'done', result: { again: true } },
    check: { job_id: '9', status: 'failed', result: null },
  });
  assert.ok(!existsSync(path));
  assert.equal(source.output(alone), '[none]\n');
});

test('worker: an item or parameter that no variable can hold is in a file that goes with the attempt', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [text, long] = [`é"$x"\n${'y'.repeat(128 * 1024)}\n`, 'z'.repeat(200 * 1024)];
  const command = `echo "[\${WORKRON_ITEM-none}\${WORKRON_PARAM_LONG-none}] $WORKRON_PARAM_SHORT"
    echo "$WORKRON_FILE_ITEM"; echo "$WORKRON_FILE_PARAM_LONG"
    cat "$WORKRON_FILE_ITEM" "$WORKRON_FILE_PARAM_LONG" | sha256sum`;
  const runContext = around({ params: { long, short: 's' }, item: { value: text, index: 0 } });
  const [id] = source.submit({ command, runContext }) as [number];
  assert.equal((await source.outcome(id)).type, 'succeeded');
  const [short, itemFile = '', paramFile = '', sum] = source.output(id).split('\n');
  assert.equal(short, '[nonenone] s');
  assert.equal(
    sum?.split(' ')[0],
    createHash('sha256')
      .update(text + long)
      .digest('hex'),
  );
  assert.deepEqual([existsSync(itemFile), existsSync(paramFile)], [false, false]);
});

test('worker: parameters beyond 512 KiB together are in files, the item before them is not', async () => {
  const params = Object.fromEntries(Array.from({ length: 30 }, (_, place) => [`p${place}`, 'x'.repeat(100 * 1024)]));
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const command = `env | grep -c ^WORKRON_PARAM_; env | grep -c ^WORKRON_FILE_PARAM_; echo "\${#WORKRON_ITEM}"`;
  const item = { value: 'i'.repeat(100 * 1024), index: 0 };
  const [id] = source.submit({ command, runContext: around({ params, item }) }) as [number];
  assert.equal((await source.outcome(id)).type, 'succeeded');
  assert.equal(source.output(id), `4\n26\n${100 * 1024}\n`);
});

test('worker: a command whose own environment is too large for the system fails and says so', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [id] = source.submit({ command: 'true', env: { LONG: 'x'.repeat(128 * 1024) } }) as [number];
  const outcome = await source.outcome(id);
  assert.ok(outcome.type === 'failed');
  assert.match(outcome.error ?? '', /^cannot be started: .*; no value in env may have 128 KiB$/);
});

test('worker: who the job is cannot be changed from around it', async () => {
  const source = new ScriptedSource();
  await using _ = new TestWorker(source);
  const [id] = source.submit({
    command: 'echo "$WORKRON_JOB_ID $WORKRON_PARAM_A"',
    env: { WORKRON_JOB_ID: '99', WORKRON_PARAM_A: 'of env' },
    runContext: around({ params: { a: 'of the workflow' } }),
  }) as [number];
  await source.outcome(id);
  assert.equal(source.output(id), `${id} of the workflow\n`);
});

test('worker: a handler gets parameters, item and parents unchanged, and none without a workflow', async () => {
  const source = new ScriptedSource();
  const handlers = {
    look: (_: unknown, { params, item, parents }: Omit<RunContext, 'workflow'>) => ({ params, item, parents }),
  };
  await using _ = new TestWorker(source, { handlers });
  const runContext = around({
    params: { list: [1, 2] },
    item: { value: { a: 1 }, index: 2 },
    parents: [parent('a', { rows: 1 })],
  });
  const [id, alone] = source.submit({ handler: 'look', runContext }, { handler: 'look' }) as [number, number];
  assert.deepEqual(await source.outcome(id), {
    type: 'succeeded',
    exitCode: null,
    result: { params: runContext.params, item: runContext.item, parents: runContext.parents },
  });
  assert.deepEqual(await source.outcome(alone), {
    type: 'succeeded',
    exitCode: null,
    result: { params: {}, item: null, parents: [] },
  });
});
