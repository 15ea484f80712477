/**
 * Workron beside its peers, interleaved on this machine. Absolute figures drift: ratios count.
 * `npm run bench:race [-- --rounds 5] [--share 1] [--minutes 20] [--only drain] [--out bench/race/out]`
 * Prints a table, and writes race.json, race.md and race.svg.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DISCIPLINES } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { hold, type Result } from './hold.ts';
import { FOLDER } from './peers/installed.ts';
import { chart, linesOf, markdown } from './report.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    share: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    out: { type: 'string', default: join(FOLDER, 'out') },
  },
});

installPeers();
await using grounds = await openGrounds({ redis: true });
const startedAt = performance.now();
const chosen = DISCIPLINES.filter(({ title }) => title.includes(values.only));
const results: Result[] = [];
for (const [index, discipline] of chosen.entries()) {
  // Each may take an equal part of the time that is left.
  const left = Number(values.minutes) * 60_000 - (performance.now() - startedAt);
  const until = performance.now() + (0.9 * left) / (chosen.length - index);
  results.push(await hold(discipline, grounds, { rounds: Number(values.rounds), share: Number(values.share), until }));
}
const lines = results.flatMap(linesOf);
const peers = (JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as { dependencies: object }).dependencies;
const machine = { node: process.version, system: release(), cpu: cpus()[0]?.model, cores: cpus().length };
mkdirSync(values.out, { recursive: true });
writeFileSync(
  join(values.out, 'race.json'),
  JSON.stringify({ at: new Date().toISOString(), machine, peers, lines }, null, 2),
);
writeFileSync(join(values.out, 'race.md'), `${markdown(lines)}\n`);
writeFileSync(join(values.out, 'race.svg'), chart(results));
console.log(markdown(lines));
