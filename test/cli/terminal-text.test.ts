import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { jsonText, yamlText } from '../../src/cli/output/json-text.ts';
import { oneLine } from '../../src/cli/output/style.ts';
import { TerminalText } from '../../src/cli/output/terminal-text.ts';

function shown(...chunks: (string | Uint8Array)[]): string {
  const text = new TerminalText();
  return chunks.map((chunk) => text.push(chunk)).join('') + text.end();
}

test('terminal: colours, tabs and line breaks stay, all else that a terminal obeys is made visible', () => {
  assert.equal(shown('\u001b[1;31mred\u001b[0m\tü\r\n'), '\u001b[1;31mred\u001b[0m\tü\r\n');
  assert.equal(shown('\u001b]0;title\u0007'), '␛]0;title␇');
  assert.equal(shown('\u001b]52;c;cm0gLXJm\u001b\\'), '␛]52;c;cm0gLXJm␛\\');
  assert.equal(shown('\u001b[2J\u001b[1;1Hgone'), '␛[2J␛[1;1Hgone');
  assert.equal(shown('a\u009b2Jb\u0000\u007f'), 'a�2Jb␀␡');
  assert.equal(shown('safe\u202eexe.txt\u2066'), 'safe�exe.txt�');
});

test('terminal: a sequence or a character that is split over chunks is treated the same', () => {
  const bytes = Buffer.from('é\u001b[32mok\u001b[0m\u001b]0;x\u0007é😀');
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    assert.equal(
      shown(bytes.subarray(0, cut), bytes.subarray(cut)),
      'é\u001b[32mok\u001b[0m␛]0;x␇é😀',
      `cut at ${cut}`,
    );
  }
  assert.equal(shown('end\u001b['), 'end␛[', 'what never became a colour is shown');
});

test('terminal: tables show no direction overrides', () => {
  assert.equal(oneLine('a\u202eb\u2067c'), 'a b c');
});

test('terminal: JSON and YAML have the same data, and nothing that a terminal obeys', () => {
  const value = {
    'key\u009b': ['\u001b]52;c;cm0gLXJm\u0007', 'safe\u202eexe.txt', 'plain: text', 'ü\u0085'],
    lines: 'a\nb\u2066\nc\n',
    number: 7,
    none: null,
  };
  // oxlint-disable-next-line no-control-regex
  const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
  for (const text of [jsonText(value), jsonText(value, 2), yamlText(value)]) {
    assert.doesNotMatch(text, obeyed);
    assert.deepEqual(parse(text), value);
  }
  assert.match(yamlText({ a: 'plain', b: 'ü' }), /^a: plain\nb: ü\n$/);
});
