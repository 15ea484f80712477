/** Random sequences of actions, and what a store answers to one. */

import fc from 'fast-check';
import type { OpenStore } from '../../../contract/kit/store.ts';
import { isWorkronError } from '../../../src/core/error.ts';
import { type Action, action, wantedJob } from './action.ts';
import { history, observe, perform, runGraphDuties } from './perform.ts';
import { MAX_ACTIONS, World } from './world.ts';

/** Workers and jobs to begin with, or half of the random calls would be about nothing. */
const opening: fc.Arbitrary<Action[]> = fc.array(wantedJob, { minLength: 6, maxLength: 6 }).map((jobs) => [
  { type: 'register', patient: true },
  { type: 'register', patient: false },
  { type: 'insert', jobs, idempotency: null },
]);

/** Sequences of up to `wanted` actions after the opening, and of half as many at least. */
export function sequencesOf(wanted: number): fc.Arbitrary<Action[]> {
  const length = Math.min(wanted, MAX_ACTIONS - 3);
  const rest = fc.array(action, { minLength: Math.floor(length / 2), maxLength: length, size: 'max' });
  return fc.tuple(opening, rest).map((parts) => parts.flat());
}

/** What the store answered to each action, and how it was then. The last entry is how it all went. */
export async function traceOf(open: OpenStore, actions: readonly Action[]): Promise<unknown[]> {
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
