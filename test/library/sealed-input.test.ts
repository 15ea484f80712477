/** Inputs that the store has sealed, by the library: of a kind of job, of one submission, of children and over HTTP. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { job, open, type Workron } from '../../src/index.ts';
import { openTestServer } from '../kit/http.ts';

const secretsKey = randomBytes(32).toString('base64');

const double = job('double', { sealInput: true, run: (input: { n: number }) => input.n * 2 });
const plain = job('plain', { run: (text: string) => text });
const parent = job('parent', {
  async run(n: number, { submit }) {
    const child = await submit(double, { n });
    return { child: child.id };
  },
});

async function exercise(workron: Workron): Promise<void> {
  await workron.start({ jobs: [double, plain, parent], concurrency: 2 });
  const handle = await workron.submit(double, { n: 21 });
  assert.equal(await handle.result(), 42);
  const read = await handle.job();
  assert.deepEqual([read.input, read.sealInput], [null, true]);

  const once = await workron.submit(plain, 'a text', { sealInput: true });
  assert.equal(await once.result(), 'a text');
  assert.equal((await once.job()).input, null);
  const shown = await workron.submit(plain, 'a text');
  assert.deepEqual([(await shown.job()).input, (await shown.job()).sealInput], ['a text', false]);
  const opened = await workron.submit(double, { n: 1 }, { sealInput: false });
  assert.deepEqual((await opened.job()).input, { n: 1 }, 'a submission overrides its kind');

  const all = await workron.submitAll(double, [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(await Promise.all(all.map((each) => each.result())), [2, 4]);
  const { child } = await (await workron.submit(parent, 4)).result();
  assert.equal(await workron.handle(child).result(), 8);
  assert.equal((await workron.handle(child).job()).input, null);
}

test('sealed input: the store has it sealed, and handlers get it', async () => {
  await using workron = await open('memory:', { secretsKey });
  await exercise(workron);
});

test('sealed input: over HTTP, too', async () => {
  await using server = await openTestServer();
  await using workron = await open(server.url);
  await exercise(workron);
});

test('sealed input: without a key it is refused', async () => {
  await using workron = await open('memory:');
  const refused = { code: 'no_secrets_key', message: /seal_input: there is no key to encrypt the input with/ };
  await assert.rejects(workron.submit(double, { n: 1 }), refused);
  await assert.rejects(
    workron.schedule('s', { every: '1h', job: plain, input: 'a', options: { sealInput: true } }),
    refused,
  );
});
