/**
 * Workron beside its peers, interleaved on this machine. Absolute figures drift: ratios count.
 *
 *   npm run bench:race [-- --rounds 5] [--minutes 30] [--only TITLE] [--share 1] [--jobs N] [--payload 20] [--json] [--out FOLDER]
 *
 * `--only` takes the disciplines whose title contains the text. `--jobs` caps the jobs of each discipline. `--payload` is the
 * size of a job's input in bytes, where the discipline does not fix it. Prints a table per discipline, or JSON, and writes
 * race.json, race.md and race.svg. For a quick look: `-- --only bulk --rounds 2 --jobs 5000`.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chart } from './chart.ts';
import { DISCIPLINES } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { begin, holdRound } from './hold.ts';
import { inputOf } from './payload.ts';
import { buildWorkron } from './peers/built.ts';
import { FOLDER } from './peers/installed.ts';
import { linesOf, markdown } from './report.ts';
import { SETTINGS } from './settings.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    share: { type: 'string', default: '1' },
    jobs: { type: 'string', default: 'Infinity' },
    payload: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '30' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    out: { type: 'string', default: join(FOLDER, 'out') },
  },
});
const scale = { share: Number(values.share), maxJobs: Number(values.jobs), bytes: Number(values.payload) };
inputOf(0, scale.bytes);

installPeers();
buildWorkron();
await using grounds = await openGrounds({ redis: true });
const startedAt = performance.now();
const chosen = DISCIPLINES.filter(({ title }) => title.includes(values.only));
if (chosen.length === 0) throw new Error(`no discipline has "${values.only}" in its title`);
const results = chosen.map((discipline) => begin(discipline, grounds));
const endsAt = startedAt + Number(values.minutes) * 60_000;
let longestMs = 0;
// All of them in every round: what there is no time for is a whole round, not the last disciplines.
for (let round = 0; round < Number(values.rounds) && performance.now() + longestMs < endsAt; round += 1) {
  const roundAt = performance.now();
  for (const result of results) await holdRound(result, grounds, scale);
  longestMs = Math.max(longestMs, performance.now() - roundAt);
}
const lines = results.flatMap(linesOf);
const peers = (JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8')) as { dependencies: object }).dependencies;
const machine = { node: process.version, system: release(), cpu: cpus()[0]?.model, cores: cpus().length };
const json = JSON.stringify({ at: new Date().toISOString(), machine, peers, settings: SETTINGS, lines }, null, 2);
mkdirSync(values.out, { recursive: true });
writeFileSync(join(values.out, 'race.json'), json);
writeFileSync(join(values.out, 'race.md'), `${markdown(lines)}\n`);
writeFileSync(join(values.out, 'race.svg'), chart(lines));
console.log(values.json ? json : markdown(lines));
if (lines.some(({ ours, cost, rounds }) => ours && !cost && rounds === 0)) process.exitCode = 1;
