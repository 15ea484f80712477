import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MaskStream, maskJson, maskText } from '../../src/core/mask.ts';

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
    'x *** y *** z',
  );
  assert.equal(masked(['one-secret', 'two-secret'], [Buffer.from('two-secretone-secret')]), '******');
});

test('mask: bytes of the chunk are not used after the call', () => {
  const mask = new MaskStream(['password-1']);
  const chunk = Buffer.from('passw');
  assert.equal(mask.push(chunk).length, 0);
  chunk.fill('x');
  assert.equal(Buffer.from(mask.push(Buffer.from('ord-1!'))).toString(), '***!');
});

test('mask: texts and keys of JSON are replaced', () => {
  const value = { 'password-1': ['a password-1', 7, null, { deep: 'password-1password-1' }] };
  assert.deepEqual(maskJson(value, ['password-1']), { '***': ['a ***', 7, null, { deep: '******' }] });
  assert.equal(maskText('long-password short-pw', ['password', 'long-password']), '*** short-pw');
});

test('mask: a value that begins with another is replaced as a whole wherever the output is cut', () => {
  const values = ['password', 'password-of-admin'];
  const chunks = (...texts: string[]) => texts.map((text) => Buffer.from(text));
  assert.equal(masked(values, chunks('a password', '-of-admin b')), 'a *** b');
  assert.equal(masked(values, chunks('a password', '-of-other b')), 'a ***-of-other b');
  assert.equal(masked(values, chunks('a password-of', '-admin password')), 'a *** ***');
  assert.equal(masked(values, chunks('a password')), 'a ***');
});

test('mask: every byte of every value is hidden, and nothing else, however the output is cut', () => {
  const letters = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((all) => all.join(''));
  const property = fc.property(
    fc.array(letters(1, 6), { minLength: 1, maxLength: 4 }),
    fc.array(letters(0, 7), { maxLength: 6 }),
    (values, parts) => {
      const found = masked(
        values,
        parts.map((part) => Buffer.from(part)),
      );
      assert.equal(found, maskedByPlaces(values, parts.join('')));
      assert.equal(maskText(parts.join(''), values), found);
    },
  );
  fc.assert(property, { numRuns: 5_000 });
});

/** Looks for each value at each place; places that overlap become one `***`. */
function maskedByPlaces(values: readonly string[], text: string): string {
  let masked = '';
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const longest = Math.max(0, ...values.filter((value) => text.startsWith(value, at)).map(({ length }) => length));
    if (longest > 0) {
      if (at >= end) masked += '***';
      end = Math.max(end, at + longest);
    } else if (at >= end) masked += text[at];
  }
  return masked;
}

test('mask: a number in JSON that shows a secret is replaced, and others are not', () => {
  const values = ['12345678901', '98765432109876543210', '00000000'];
  assert.deepEqual(maskJson({ a: 12345678901, b: [-12345678901, 1.12345678901, 123456789012] }, values), {
    a: '***',
    b: ['***', '***', '***'],
  });
  assert.equal(maskJson(Number('98765432109876543210'), values), '***', 'JSON rounds it');
  assert.deepEqual(maskJson([0, 1, 1234567, true, false, null], values), [0, 1, 1234567, true, false, null]);
});
