/**
 * The cost of a job as the installation grows, and the cost of a large installation. Prints tables for
 * docs/performance.md. A section starts only while there is time.
 * `npm run bench:growth [-- --only backlog,lists] [--share 1] [--jobs 10000] [--minutes 30]`
 */

import { parseArgs } from 'node:util';
import { backlog, history, spread } from './cost.ts';
import { graph } from './graph.ts';
import { openGrounds } from './grounds.ts';
import { idle } from './idle.ts';
import { limits } from './limits.ts';
import { lists } from './lists.ts';
import { memory } from './memory.ts';
import type { Section } from './section.ts';
import { snapshot } from './snapshot.ts';
import { sqlite } from './sqlite.ts';

const SECTIONS: readonly Section[] = [backlog, spread, memory, snapshot, history, limits, lists, idle, graph, sqlite];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: SECTIONS.map(({ name }) => name).join(',') },
    share: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '30' },
  },
});
const only = values.only.split(',');
const unknown = only.find((wanted) => !SECTIONS.some(({ name }) => name === wanted));
if (unknown !== undefined) {
  throw new Error(
    `expected sections of --only, got ${unknown}; there are ${SECTIONS.map(({ name }) => name).join(', ')}`,
  );
}

const startedAt = performance.now();
const minutes = () => (performance.now() - startedAt) / 60_000;
await using grounds = await openGrounds({ share: Number(values.share), jobs: Number(values.jobs) });
for (const { name, title, run } of SECTIONS.filter((section) => only.includes(section.name))) {
  if (minutes() > Number(values.minutes)) {
    console.log(`\nNo time was left for ${name}.`);
    continue;
  }
  console.log(`\n### ${title}\n`);
  await run(grounds).catch((error: unknown) => {
    process.exitCode = 1;
    console.log(`\n${name} failed: ${error instanceof Error ? error.message : String(error)}`);
  });
  console.error(`${name}: ${minutes().toFixed(1)} minutes so far`);
}
