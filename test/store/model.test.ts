/** The same random calls on every store; the answers must be the same. Memory is the specification. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { openTestMemory } from '../../contract/kit/memory.ts';
import type { OpenStore } from '../../contract/kit/store.ts';
import { isWorkronError } from '../../src/core/error.ts';
import { effort } from '../effort.ts';
import { openEmptiedPostgres } from '../kit/postgres.ts';
import { openEmptiedSqlite } from '../kit/sqlite.ts';
import { type Action, action, wantedJob } from './model/action.ts';
import { history, observe, perform, runGraphDuties } from './model/perform.ts';
import { MAX_ACTIONS, World } from './model/world.ts';

const STORES: [string, OpenStore][] = [
  ['memory', openTestMemory],
  ['sqlite', openEmptiedSqlite],
  ['postgres', () => openEmptiedPostgres()],
];

/** Workers and jobs to begin with, or half of the random calls would be about nothing. */
const opening: fc.Arbitrary<Action[]> = fc.array(wantedJob, { minLength: 6, maxLength: 6 }).map((jobs) => [
  { type: 'register', patient: true },
  { type: 'register', patient: false },
  { type: 'insert', jobs, idempotency: null },
]);

/** What the store answered to each action, and how it was then. */
async function traceOf(open: OpenStore, actions: readonly Action[]): Promise<unknown[]> {
  await using opened = await open();
  const world = await World.begin(opened);
  const trace: unknown[] = [];
  for (const next of actions) {
    await world.nextStep();
    const answer = await perform(world, next).catch((error: unknown) => {
      if (isWorkronError(error)) return error.code;
      throw error;
    });
    await runGraphDuties(world);
    trace.push(world.plain({ action: next, answer, state: await observe(world) }));
  }
  trace.push(world.plain(await history(world)));
  return trace;
}

test('model: random sequences of calls have the same answers on every store', async () => {
  const length = Math.min(effort.modelLength, MAX_ACTIONS - 3);
  const rest = fc.array(action, { minLength: Math.floor(length / 2), maxLength: length, size: 'max' });
  const sequences = fc.tuple(opening, rest).map((parts) => parts.flat());
  await fc.assert(
    fc.asyncProperty(sequences, async (actions) => {
      const traces = await Promise.all(STORES.map(([, open]) => traceOf(open, actions)));
      const [expected, ...others] = traces;
      for (const [index, trace] of others.entries()) {
        for (const [step, found] of trace.entries()) {
          assert.deepEqual(found, expected?.[step], `${STORES[index + 1]?.[0]} differs from memory at step ${step}`);
        }
      }
    }),
    { numRuns: effort.modelRuns, unbiased: true, interruptAfterTimeLimit: effort.modelMs },
  );
});
