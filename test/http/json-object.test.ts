import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isWorkronError } from '../../src/core/error.ts';
import { splitJsonObject } from '../../src/http/json-object.ts';

async function parse(text: string): Promise<Record<string, unknown>> {
  const members = await splitJsonObject(Buffer.from(text));
  return Object.fromEntries([...members].map(([name, bytes]) => [name, JSON.parse(bytes.toString())]));
}

test('an object is read as JSON.parse reads it', async () => {
  const texts = [
    '{}',
    ' { } ',
    '{"a":1}',
    ' {\n"a" : [1, {"b": "}"}] , "c\\"d":"x,]}\\\\" ,"":null}\t',
    '{"\\u0061":"\\"","ü":"ü"}',
  ];
  for (const text of texts) assert.deepEqual(await parse(text), JSON.parse(text), text);
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.constantFrom(undefined, 1),
      async (value, space) => {
        const text = JSON.stringify(value, null, space);
        assert.deepEqual(await parse(text), JSON.parse(text));
      },
    ),
    { numRuns: 200 },
  );
});

test('what is no object is refused, with its place', async () => {
  const broken = ['', '[', '{', '{"a"', '{"a":', '{"a":}', '{"a":1', '{"a":1,', '{"a":1,}', '{,}', '{a:1}', '{"a" 1}'];
  broken.push('{"a":1}x', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":[}', '{"a":"}', '{"\\x":1}', '"{}"', '{"a:1}');
  for (const text of broken) {
    await assert.rejects(
      parse(text),
      (error) => isWorkronError(error, 'bad_request') || error instanceof SyntaxError,
      text,
    );
  }
});

test('a long value lets others have their turn', async () => {
  let turns = 0;
  let going = true;
  const turn = (): void => {
    turns += 1;
    if (going) setImmediate(turn);
  };
  setImmediate(turn);
  await splitJsonObject(Buffer.from(`{"a":[${'1,'.repeat(4_000_000)}1]}`));
  going = false;
  assert.ok(turns > 4, String(turns));
});
