import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toSteps, type WorkflowDefinition } from '../../src/api/workflow/definition.ts';
import { readWorkflowFile } from '../../src/api/workflow/file.ts';
import { resolveParams } from '../../src/api/workflow/params.ts';
import { WorkflowStep } from '../../src/api/workflow/step.ts';

function defined(text: string): WorkflowDefinition {
  const { definition, problems } = readWorkflowFile(text);
  assert.ok(
    definition !== null,
    problems.map(({ line, column, message }) => `${line}:${column} ${message}`).join('\n'),
  );
  return definition;
}

const ETL = `
name: etl
description: Loads a day.
params:
  date: {}
  files: { type: list, default: [a.csv, b.csv] }
  tries: { type: integer, default: 2, enum: [1, 2, 3] }
defaults:
  queue: batch
  timeout: 90s
  tags: [etl]
  env: { STAGE: test, LEVEL: info }
steps:
  - key: extract
    command: get "$WORKRON_PARAM_DATE" "$WORKRON_PARAM_TRIES" "$WORKRON_ITEM"
    for_each: { param: files }
    max_parallel: 3
    env: { LEVEL: debug }
  - key: load
    handler: load
    input: { table: orders }
    depends_on: extract
    timeout: 1h
  - key: each
    command: check "$WORKRON_ITEM"
    depends_on: [load]
    for_each: { output: load.tables }
    continue_on_failure: true
  - key: tidy
    command: tidy
    depends_on: [extract, load]
    if: failure
`;

test('workflow file: a step has its own settings, else those of defaults; env is merged by name', () => {
  const { steps, name, description } = defined(ETL);
  assert.deepEqual([name, description], ['etl', 'Loads a day.']);
  const [extract, load, each, tidy] = steps;
  assert.deepEqual(extract?.job.env, { STAGE: 'test', LEVEL: 'debug' });
  assert.equal(extract?.job.timeout, 90_000);
  assert.equal(load?.job.timeout, 3_600_000);
  assert.deepEqual([load?.job.queue, load?.job.tags, load?.job.input], ['batch', ['etl'], { table: 'orders' }]);
  assert.deepEqual([extract?.forEach, extract?.maxParallel], [{ param: 'files' }, 3]);
  assert.deepEqual([load?.dependsOn, load?.if, load?.continueOnFailure], [['extract'], 'success', false]);
  assert.deepEqual([each?.forEach, each?.continueOnFailure], [{ output: 'load.tables' }, true]);
  assert.deepEqual([tidy?.dependsOn, tidy?.if], [['extract', 'load'], 'failure']);
});

test('workflow file: steps as a map, as a list, and as JSON define the same', () => {
  const list = 'name: x\nsteps:\n  - {key: a, command: one}\n  - {key: b, command: two, depends_on: [a]}\n';
  const map = 'name: x\nsteps:\n  a: {command: one}\n  b: {command: two, depends_on: a}\n';
  const json = JSON.stringify(
    {
      name: 'x',
      steps: [
        { key: 'a', command: 'one' },
        { key: 'b', command: 'two', depends_on: ['a'] },
      ],
    },
    null,
    2,
  );
  assert.deepEqual(defined(map), defined(list));
  assert.deepEqual(defined(json), defined(list));
});

test('workflow file: anchors, aliases and merge keys are YAML as people write it', () => {
  const { steps } = defined('name: x\nsteps:\n  a: &base {command: one, queue: q}\n  b: {<<: *base, command: two}\n');
  assert.deepEqual(
    steps.map(({ job }) => job),
    [
      { command: 'one', queue: 'q' },
      { command: 'two', queue: 'q' },
    ],
  );
});

test('steps: lists come as items, no parameter in a command, and the server takes what is sent', () => {
  const definition = defined(ETL);
  const steps = toSteps(
    definition,
    resolveParams(definition.params, { date: '$(rm -rf /)', tries: '3', files: 'x.csv' }),
  );
  assert.deepEqual(steps[0], {
    key: 'extract',
    command: 'get "$WORKRON_PARAM_DATE" "$WORKRON_PARAM_TRIES" "$WORKRON_ITEM"',
    queue: 'batch',
    timeout: 90_000,
    tags: ['etl'],
    env: { STAGE: 'test', LEVEL: 'debug' },
    depends_on: [],
    if: 'success',
    for_each: ['x.csv'],
    max_parallel: 3,
    continue_on_failure: false,
  });
  assert.deepEqual(steps[2]?.for_each, { output: 'load.tables' });
  const sent = JSON.parse(JSON.stringify(steps)) as unknown[];
  assert.deepEqual(
    sent.map((step) => WorkflowStep.parse(step)),
    steps,
  );
});

test('workflow file: any text is answered with a definition or with errors that have a place', () => {
  const words = fc.constantFrom(
    'name',
    'steps',
    'a',
    'command',
    'depends_on',
    ':',
    ' ',
    '  ',
    '\n',
    '- ',
    '{',
    '}',
    '[',
    ']',
    '*',
    '&',
    '"',
    '|',
    '\t',
    '#',
    ',',
    '?',
    '!',
    '---',
    '<<',
    '\0',
    '𝕏',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(words, { maxLength: 40 }).map((parts) => parts.join('')),
        fc.string({ unit: 'binary' }),
      ),
      (text) => {
        const { definition, problems } = readWorkflowFile(text);
        assert.ok(definition !== null || problems.some(({ severity }) => severity === 'error'));
        const lines = text.split('\n');
        for (const { line, column } of problems) {
          assert.ok(
            line >= 1 && line <= lines.length && column >= 1 && column <= (lines[line - 1] as string).length + 1,
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('workflow file: of a thousand mistakes the first ones are reported', () => {
  const steps = Array.from({ length: 1_000 }, (_, place) => `  s${place}: {command: x, depends_on: nobody-${place}}`);
  const { definition, problems, more } = readWorkflowFile(`name: x\nsteps:\n${steps.join('\n')}\n`);
  assert.equal(definition, null);
  assert.deepEqual([problems.length, more], [100, 900]);
  assert.equal(problems[0]?.line, 3);
});

test('workflow file: what aliases and default variables stand for is bounded', () => {
  const aliases = (text: string, count: number) =>
    readWorkflowFile(`x: &a "${text}"\nname: x\nsteps:\n${'- *a\n'.repeat(count)}`).problems;
  assert.match(aliases('x'.repeat(100_000), 30)[0]?.message ?? '', /unknown key "x"/);
  assert.equal(aliases('x'.repeat(100_000), 60)[0]?.message, 'too many aliases');
  const env = Array.from({ length: 1_000 }, (_, place) => `E${place}: ${'x'.repeat(20)}`);
  const workflow = (steps: number) => {
    const listed = Array.from({ length: steps }, (_, place) => `- {key: s${place}, command: x}`);
    return readWorkflowFile(`name: x\ndefaults: {env: {${env.join(', ')}}}\nsteps:\n${listed.join('\n')}`);
  };
  assert.deepEqual(workflow(500).problems, []);
  const { definition, problems } = workflow(1_500);
  assert.equal(definition, null);
  assert.match(problems[0]?.message ?? '', /^env: each step gets a copy, \d+ characters in all; at most 33554432$/);
});

test('steps: the lists that parameters give to all steps are bounded', () => {
  const steps = Array.from({ length: 20 }, (_, place) => `  s${place}: {command: x, for_each: {param: files}}`);
  const definition = defined(`name: x\nparams: {files: {type: list}}\nsteps:\n${steps.join('\n')}\n`);
  const list = (length: number) => new Map([['files', Array.from({ length }, () => 1)]]);
  assert.equal(toSteps(definition, list(50_000)).length, 20);
  assert.throws(() => toSteps(definition, list(50_001)), /1000020 items in all steps; at most 1000000/);
});
