import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isWorkronError } from '../../src/core/error.ts';
import { mapJsonArray } from '../../src/http/json-array.ts';
import { jsonItems } from '../../src/http/json-items.ts';

const LIMITS = { maxItems: 200_000, maxBytesPerItem: 100 };
const parse = (text: string) => mapJsonArray(Buffer.from(text), LIMITS, (item) => item);

/** Counts the turns that others got while `work` went on. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let going = true;
  const turn = () => {
    turns += 1;
    if (going) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  going = false;
  return turns;
}

test('an array is read as JSON.parse reads it', async () => {
  const texts = [
    '[]',
    ' [ ] ',
    '[1]',
    '[1,2 , 3]',
    '["a,b]","\\"]","\\\\"]',
    '[{"a":[1,{"b":"}"}]},[[],[","]],null,true]',
    '["\\\\\\""]',
    '["ü€😀"]',
    '\n[\t-1.5e3\r]',
  ];
  for (const text of texts) assert.deepEqual(await parse(text), JSON.parse(text), text);
});

test('what JSON.parse refuses is refused', async () => {
  const texts = [
    '',
    '[',
    ']',
    '[,]',
    '[1,]',
    '[1',
    '[1 2]',
    '[1]]',
    '[1] 2',
    '["a]',
    '[{]}]',
    '[{}}',
    '[}',
    '[1],[2]',
    '[\u00001]',
    '[01]',
    '["\t"]',
  ];
  for (const text of texts) {
    assert.throws(() => JSON.parse(text), SyntaxError, text);
    await assert.rejects(parse(text), (error) => isWorkronError(error, 'bad_request'), text);
  }
});

test('bytes that are not UTF-8 are refused', async () => {
  const bytes = Buffer.concat([Buffer.from('["'), Buffer.from([0xc3, 0x28]), Buffer.from('"]')]);
  await assert.rejects(mapJsonArray(bytes, LIMITS, String), (error) => isWorkronError(error, 'bad_request'));
});

test('an item that is too large is refused before it is parsed', async () => {
  await assert.rejects(parse(`["${'x'.repeat(200)}"]`), (error) => isWorkronError(error, 'payload_too_large'));
  await assert.rejects(parse(`[${'['.repeat(200)}`), (error) => isWorkronError(error, 'payload_too_large'));
});

test('a long array is read and written in turns', async () => {
  const items = Array.from({ length: 150_000 }, (_, index) => ({ index }));
  const bytes = Buffer.from(JSON.stringify(items));
  assert.ok((await turnsDuring(() => mapJsonArray(bytes, LIMITS, (item) => item))) > 2);
  let text = '';
  const turns = await turnsDuring(async () => {
    const { content } = jsonItems(items, (item) => item);
    for await (const chunk of content) text += chunk;
  });
  assert.ok(turns > 2);
  assert.deepEqual(JSON.parse(text), { items });
});
