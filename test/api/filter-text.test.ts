/** The filter of jobs as people type it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FILTER_KEYS, filterProblemText, parseFilterText } from '../../src/api/filter-text.ts';

function pairs(text: string): [string | null, string][] {
  const { terms, problem } = parseFilterText(text);
  assert.equal(problem, null, text);
  return terms.map(({ key, value }) => [key, value]);
}

test('filter text: keys with values, quoted or not, and words', () => {
  assert.deepEqual(pairs('queue:mail tag:eu  tag:gold status:failed,done since:1h error:"HTTP 503"'), [
    ['queue', 'mail'],
    ['tag', 'eu'],
    ['tag', 'gold'],
    ['status', 'failed,done'],
    ['since', '1h'],
    ['error', 'HTTP 503'],
  ]);
  assert.deepEqual(pairs(String.raw`  card "say \"no\": \\" until:2026-01-31T09:00:00Z `), [
    [null, 'card'],
    [null, String.raw`say "no": \ `.trim()],
    ['until', '2026-01-31T09:00:00Z'],
  ]);
  assert.deepEqual(pairs('https://example.com/x name:a:b'), [
    [null, 'https://example.com/x'],
    ['name', 'a:b'],
  ]);
  assert.deepEqual(pairs(''), []);
});

test('filter text: what is wrong is named and marked', () => {
  for (const [text, message] of [
    ['queue:mail quue:x', 'unknown key "quue"; did you mean queue?\nqueue:mail quue:x\n           ^^^^'],
    ['zzz:1', `unknown key "zzz"; expected ${Object.keys(FILTER_KEYS).join(', ')}\nzzz:1\n^^^`],
    ['queue: x', 'expected a value after queue:\nqueue: x\n^^^^^^'],
    ['name:""', 'expected a value after name:\nname:""\n^^^^^^^'],
    ['a error:"50', 'expected a closing quote\na error:"50\n        ^^^'],
    ['queue:a queue:b', 'queue was given twice: expected one value\nqueue:a queue:b\n        ^^^^^^^'],
  ] as const) {
    const { problem } = parseFilterText(text);
    assert.ok(problem !== null, text);
    assert.equal(filterProblemText(text, problem), message);
  }
});

test('filter text: any text is parsed, and every quoted value comes back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const { terms, problem } = parseFilterText(text);
      for (const { at, length } of [...terms, ...(problem === null ? [] : [problem])]) {
        assert.ok(at >= 0 && length > 0 && at + length <= Math.max(text.length, at + 1));
      }
    }),
  );
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (value) => {
      fc.pre(value.trim() !== '');
      const quoted = `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
      assert.deepEqual(pairs(`name:${quoted}`), [['name', value]]);
    }),
  );
});
