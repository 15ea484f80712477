/** Random graphs of jobs and steps. */

import fc from 'fast-check';
import type { PlannedNode, Wish } from './dag-reference.ts';

const end = fc.oneof(
  { weight: 5, arbitrary: fc.constant('done' as const) },
  { weight: 3, arbitrary: fc.constant('failed' as const) },
  { weight: 1, arbitrary: fc.constant('cancelled' as const) },
);
const wish = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Wish>('success') },
  { weight: 2, arbitrary: fc.constant<Wish>('failure') },
  { weight: 2, arbitrary: fc.constant<Wish>('ended') },
);

const seed = fc.record({
  /** As thousandths of the nodes before it: doubles would nearly all be next to nothing. */
  parents: fc.array(fc.record({ share: fc.nat(999), condition: wish }), { maxLength: 5, size: 'max' }),
  mode: fc.constantFrom('each' as const, 'together' as const),
  wish,
  continueOnFailure: fc.boolean(),
  ends: fc.tuple(end, end),
});

/** Of up to `most` nodes; parents come first. */
export function dagPlan(most: number): fc.Arbitrary<PlannedNode[]> {
  return fc.array(seed, { minLength: 1, maxLength: most, size: 'max' }).map((seeds) =>
    seeds.map(({ mode, wish, continueOnFailure, ends, ...seed }, place) => {
      const parents = new Map<number, Wish>();
      for (const { share, condition } of place === 0 ? [] : seed.parents) {
        // Near ones more often than far ones: chains as well as stars.
        const node = place - 1 - Math.floor((share / 1_000) ** 2 * place);
        parents.set(node, mode === 'together' ? wish : condition);
      }
      return {
        parents: [...parents].map(([node, condition]) => ({ node, condition })),
        mode,
        continueOnFailure,
        ends,
      };
    }),
  );
}

/** A way to choose among free nodes that two runs can follow alike. */
export function picker(numbers: readonly number[]): (free: readonly number[]) => number {
  let turn = 0;
  return (free) => {
    const number = numbers[turn % numbers.length] as number;
    turn += 1;
    return free[number % free.length] as number;
  };
}
