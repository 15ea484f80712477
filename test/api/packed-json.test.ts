import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PackedJson } from '../../src/api/workflow/packed-json.ts';

test('packed JSON: every value comes back as it was, whatever its size', () => {
  const values = [
    null,
    '',
    'ä ✓ 😀 \u2028 "quoted" \\',
    { command: 'true', env: { A: '1' }, list: [1, -2.5, true, null] },
    'x'.repeat(300_000),
    ...Array.from({ length: 5_000 }, (_, place) => ({ place, text: '✓'.repeat(place % 200) })),
    'y'.repeat(1_000_000),
    0,
  ];
  const packed = new PackedJson<unknown>();
  for (const value of values) packed.add(value);
  assert.equal(packed.length, values.length);
  for (const place of values.keys()) assert.deepEqual(packed.at(place), values[place]);
  assert.notEqual(packed.at(3), packed.at(3), 'each look makes a value of its own');
});
