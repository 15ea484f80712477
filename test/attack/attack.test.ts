/** The short form of `npm run attack`: everything over HTTP on one store, and the races on one that answers late. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asAdmin, type GroupResult, tryAll } from './attack.ts';
import { onLateStore, onMemory } from './ground.ts';
import { httpAttacks } from './http-table.ts';
import { raceAttacks } from './race-attacks.ts';

function assertNoneThrough(results: readonly GroupResult[], atLeast: number): void {
  const cases = results.reduce((sum, result) => sum + result.cases, 0);
  assert.ok(cases >= atLeast, `${cases} attacks`);
  const through = results.flatMap(({ group, through: found }) =>
    found.map(({ name, what }) => `${group}: ${name}: ${what}`),
  );
  assert.deepEqual(through, []);
}

test('attack: nothing of the table gets through, and the servers still answer', { timeout: 300_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const ground = await onMemory(stack);
  assertNoneThrough(await tryAll(httpAttacks(ground)), 800);
  assert.equal((await ground.open.call('POST', '/jobs', { command: 'true' })).status, 201);
  assert.equal((await ground.guarded.call('GET', '/jobs', undefined, asAdmin)).status, 200);
});

test('attack: nothing gets through while rights end, or by many at the same moment', { timeout: 300_000 }, async () => {
  await using stack = new AsyncDisposableStack();
  const { guarded } = await onLateStore(stack);
  assertNoneThrough(await tryAll([() => raceAttacks(guarded, 1)]), 20);
});
