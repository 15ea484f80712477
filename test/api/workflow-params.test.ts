import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Param, paramFrom, resolveParams } from '../../src/api/workflow/params.ts';
import { isWorkronError } from '../../src/core/error.ts';

const params: Param[] = [
  paramFrom('day', { description: 'which day' }),
  paramFrom('count', { type: 'integer', default: 3 }),
  paramFrom('share', { type: 'number', required: false }),
  paramFrom('dry-run', { type: 'boolean', default: false }),
  paramFrom('files', { type: 'list', default: [] }),
  paramFrom('stage', { enum: ['test', 'live'], default: 'test' }),
];

function refused(given: Record<string, unknown>): string[] {
  try {
    resolveParams(params, given);
  } catch (error) {
    assert.ok(isWorkronError(error, 'bad_request'));
    return (error.details.errors ?? []).map(({ pointer, detail }) => `${pointer} ${detail}`);
  }
  assert.fail('accepted');
}

test('parameters: given values win over defaults; what is optional and not given is left out', () => {
  const values = resolveParams(params, { day: 'monday', count: 5 });
  assert.deepEqual(Object.fromEntries(values), { day: 'monday', count: 5, 'dry-run': false, files: [], stage: 'test' });
});

test('parameters: text from a command line is read as the type it is for', () => {
  const values = resolveParams(params, {
    day: '5',
    count: '-7',
    share: '1e-3',
    'dry-run': 'true',
    files: 'a, b',
    stage: 'live',
  });
  assert.deepEqual(Object.fromEntries(values), {
    day: '5',
    count: -7,
    share: 0.001,
    'dry-run': true,
    files: ['a', 'b'],
    stage: 'live',
  });
  assert.deepEqual(resolveParams(params, { day: '', files: '["a,b", 1]' }).get('files'), ['a,b', 1]);
});

test('parameters: every mistake is reported with the parameter’s name', () => {
  assert.deepEqual(refused({ dya: 'x', count: '1.5', share: 'much', 'dry-run': 'yes', files: '[1', stage: 'prod' }), [
    '/params/dya unknown parameter; did you mean day?',
    '/params/day missing: the parameter has no default (which day)',
    '/params/count expected a whole number, got "1.5"',
    '/params/share expected a number, got "much"',
    '/params/dry-run expected true or false, got "yes"',
    '/params/files expected a list, got "[1"',
    '/params/stage expected one of test, live, got "prod"',
  ]);
  assert.deepEqual(refused({ day: 5 }), ['/params/day expected text: write "5" in quotes']);
  assert.deepEqual(refused({ day: 'a\0b' }), ['/params/day text must not contain NUL or lone surrogates']);
  assert.deepEqual(refused({ day: 'x', count: '99999999999999999999' }), [
    '/params/count expected a whole number, got 100000000000000000000',
  ]);
  assert.match(refused({ day: 'x'.repeat(65_537) })[0] as string, /at most 65536 characters/);
});

test('parameters: names that every object has are no parameters', () => {
  assert.deepEqual(refused({ day: 'x', constructor: 'y' }), [
    '/params/constructor unknown parameter; known are day, count, share, dry-run, files, stage',
  ]);
  const own = [paramFrom('constructor', { default: 'mine' })];
  assert.equal(resolveParams(own, {}).get('constructor'), 'mine');
});
