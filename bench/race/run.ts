/**
 * Compares Workron with its peers, interleaved on this machine. Absolute figures drift, so compare the ratios.
 * `npm run bench:race [-- --rounds 5] [--share 1] [--minutes 20] [--only drain] [--out bench/race/out]`
 * Prints a table, and writes race.json, race.md and race.svg. For a quick look: `-- --only bulk --rounds 2 --share 0.2`.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { DISCIPLINES } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { begin, holdRound } from './hold.ts';
import { buildWorkron } from './peers/built.ts';
import { FOLDER } from './peers/installed.ts';
import { linesOf, markdown } from './report.ts';

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
buildWorkron();
await using grounds = await openGrounds({ redis: true });
const startedAt = performance.now();
const chosen = DISCIPLINES.filter(({ title }) => title.includes(values.only));
if (chosen.length === 0) throw new Error(`expected a part of a discipline's title for --only, got "${values.only}"`);
const results = chosen.map((discipline) => begin(discipline, grounds));
const endsAt = startedAt + Number(values.minutes) * 60_000;
let longestMs = 0;
// Every round has all disciplines: when time runs out, whole rounds are missing, not the last disciplines.
for (let round = 0; round < Number(values.rounds) && performance.now() + longestMs < endsAt; round += 1) {
  const roundAt = performance.now();
  for (const result of results) await holdRound(result, grounds, Number(values.share));
  longestMs = Math.max(longestMs, performance.now() - roundAt);
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
writeFileSync(join(values.out, 'race.svg'), chart(lines));
console.log(markdown(lines));
if (lines.some(({ ours, rounds }) => ours && rounds === 0)) process.exitCode = 1;
