/**
 * A document of twice the size takes about twice the work to read, whatever is in it: else a document that the server accepts could
 * stop it for minutes. Work is counted in steps, so that the result is the same on every machine.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countSteps, startCounting } from '../kit/steps.ts';

const MAX_RATIO = 2.3;
/** Going back at each place of a text of this many characters takes many seconds, reading it milliseconds. */
const LONG = 150_000;
const MAX_MS = 2_000;

startCounting();
const { WORKFLOW_FILES } = await import('./workflow-files.ts');
const { REQUESTS } = await import('./requests.ts');
const { TEXTS } = await import('./texts.ts');
const { MASKING } = await import('./masking.ts');

for (const { name, size, make, backtracks = false } of [...WORKFLOW_FILES, ...REQUESTS, ...TEXTS, ...MASKING]) {
  test(`growth: ${name}`, async () => {
    const [small, large] = [make(size), make(2 * size)];
    // What is made once, at the first use, does not count.
    await make(1)();
    const [once, twice] = [await countSteps(small), await countSteps(large)];
    const ratio = (twice / once).toFixed(2);
    assert.ok(twice <= MAX_RATIO * once, `twice the size took ${ratio} times the steps: ${once} and ${twice}`);
    if (!backtracks) return;
    const read = make(LONG);
    const before = process.cpuUsage();
    await read();
    const { user } = process.cpuUsage(before);
    assert.ok(user < MAX_MS * 1_000, `${LONG} characters took ${Math.round(user / 1_000)} ms of processor time`);
  });
}
