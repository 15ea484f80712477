import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskJson, maskText } from '../../src/core/secret.ts';
import { MaskStream } from '../../src/worker/report/mask-stream.ts';

function masked(values: readonly string[], chunks: readonly Buffer[]): string {
  const mask = new MaskStream(values);
  return Buffer.concat([...chunks.map((chunk) => mask.push(chunk)), mask.end()]).toString();
}

test('mask: a secret is replaced wherever the output is cut in two', () => {
  const bytes = Buffer.from('a hunter2-hunter2 b hunter2-hunter hunter2-hunter2\nhunter2-ü');
  const expected = 'a *** b hunter2-hunter ***\nhunter2-ü';
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)];
    assert.equal(masked(['hunter2-hunter2'], chunks), expected, `cut at ${cut}`);
  }
  const single = Array.from(bytes, (byte) => Buffer.from([byte]));
  assert.equal(masked(['hunter2-hunter2'], single), expected, 'byte by byte');
});

test('mask: values that overlap, repeat or contain one another are all replaced', () => {
  assert.equal(
    masked(['abababab', 'ab-abababab-ab'], [Buffer.from('x ab-abababab-ab y abababababab z')]),
    'x *** y ***abab z',
  );
  assert.equal(masked(['one-secret', 'two-secret'], [Buffer.from('two-secretone-secret')]), '******');
});

test('mask: bytes of the chunk are not used after the call', () => {
  const mask = new MaskStream(['password-1']);
  const chunk = Buffer.from('passw');
  assert.equal(mask.push(chunk).toString(), '');
  chunk.fill('x');
  assert.equal(mask.push(Buffer.from('ord-1!')).toString(), '***!');
});

test('mask: texts and keys of JSON are replaced', () => {
  const value = { 'password-1': ['a password-1', 7, null, { deep: 'password-1password-1' }] };
  assert.deepEqual(maskJson(value, ['password-1']), { '***': ['a ***', 7, null, { deep: '******' }] });
  assert.equal(maskText('long-password short-pw', ['password', 'long-password']), '*** short-pw');
});
