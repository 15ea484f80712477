/** Makes a failing plan smaller: leaves out calls and faults for as long as the same rule is broken. */

import type { Fault, Op, Plan } from './plan.ts';
import { type Simulated, simulate } from './simulate.ts';

/** `o3` is the call at place 3 of the seed's plan, `f1` the fault at place 1. */
export type Place = `${'o' | 'f'}${number}`;

export function placesOf({ ops, faults }: Plan): Place[] {
  return [...faults.map((_, index): Place => `f${index}`), ...ops.map((_, index): Place => `o${index}`)];
}

/** The plan with only these calls and faults. */
export function keep(plan: Plan, places: readonly Place[]): Plan {
  const kept = new Set<string>(places);
  return {
    ...plan,
    ops: plan.ops.filter((_: Op, index) => kept.has(`o${index}`)),
    faults: plan.faults.filter((_: Fault, index) => kept.has(`f${index}`)),
  };
}

/** Returns the places that are needed to break `rule`. Runs the plan at most `maxRuns` times. */
export async function shrink(plan: Plan, rule: string, maxRuns = 300): Promise<Place[]> {
  let places = placesOf(plan);
  const budget = { runs: maxRuns };
  const stillFails = async (tried: readonly Place[]): Promise<boolean> => {
    budget.runs -= 1;
    const { violation }: Simulated = await simulate(keep(plan, tried));
    return violation?.rule === rule;
  };
  for (let size = Math.ceil(places.length / 2); size >= 1 && budget.runs > 0; ) {
    const before = places.length;
    for (let start = 0; start < places.length && budget.runs > 0; ) {
      const rest = places.toSpliced(start, size);
      if (await stillFails(rest)) places = rest;
      else start += size;
    }
    if (size === 1 && places.length === before) break;
    size = Math.ceil(size / 2);
  }
  return places;
}
