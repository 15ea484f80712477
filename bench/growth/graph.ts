/** Compares a large graph with a small one: a step should cost the same in both. */

import { drainGraph, storeGraph } from '../graph.ts';
import { rate } from '../measure.ts';
import { sceneOn } from '../scene.ts';
import type { Grounds } from './grounds.ts';
import { printHead, printRow, type Section, whole } from './section.ts';
import { type Work, workOf } from './work.ts';

const SMALL = 5_000;
const LARGE = 100_000;
const PAIRS = 2;

export const graph: Section = {
  name: 'graph',
  title: 'A large graph',
  async run(grounds) {
    printHead([
      'steps',
      'stored in one call, per second',
      'drained per second',
      'pages per claim',
      'pages per settle and what follows',
      'last to first',
    ]);
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const small = await measure(grounds, grounds.sized(SMALL));
      const large = await measure(grounds, grounds.sized(LARGE));
      const last = large.after / small.after;
      printRow([...cells(small), '']);
      printRow([...cells(large), last.toFixed(2)]);
    }
  },
};

interface Graph {
  count: number;
  stored: number;
  drained: number;
  work: Work;
  /** Pages per step, without the claim. */
  after: number;
}

async function measure(grounds: Grounds, count: number): Promise<Graph> {
  const schema = 'graph';
  await grounds.client.query(`drop schema if exists ${schema} cascade`);
  let id = 0;
  const stored = await (async () => {
    await using scene = await sceneOn(await grounds.open(schema));
    return await rate(count, async () => {
      id = await storeGraph(scene, count);
    });
  })();
  let drained = 0;
  const work = await workOf(grounds.client, { schema, jobs: count }, async () => {
    await using scene = await sceneOn(await grounds.open(schema));
    drained = await drainGraph(scene, { id, count });
  });
  return { count, stored, drained, work, after: work.allPages - work.claimPages };
}

function cells({ count, stored, drained, work, after }: Graph): string[] {
  return [whole(count), whole(stored), whole(drained), work.claimPages.toFixed(1), after.toFixed(1)];
}
