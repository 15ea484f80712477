/**
 * Tries settings of one peer, so that it races at its best. Every combination drains, interleaved, by the race's own rules.
 *
 *   node bench/race/sweep.ts pg-boss batchSize=100,250,500 localConcurrency=1,2 [--jobs 20000] [--rounds 2] [--processes 1]
 */

import { parseArgs } from 'node:util';
import { format, median } from '../measure.ts';
import { totalUs } from '../usage.ts';
import { CONTENDERS, type ContenderName } from './contender.ts';
import { drain, type Measured } from './events.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { SMALL_BYTES } from './payload.ts';
import { buildWorkron } from './peers/built.ts';
import type { Settings } from './settings.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '2' },
    processes: { type: 'string', default: '1' },
  },
});
const [name = '', ...ranges] = positionals;
if (!(name in CONTENDERS)) throw new Error(`expected one of ${Object.keys(CONTENDERS).join(', ')}, got "${name}"`);

installPeers();
buildWorkron();
await using grounds = await openGrounds({ redis: true });
const tries = combinations(ranges).map((settings) => ({ settings, rounds: [] as Measured[] }));
const work = {
  jobs: Number(values.jobs),
  bytes: SMALL_BYTES,
  processes: Number(values.processes),
  analyze: true,
};
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const { settings, rounds } of tries) {
    await using ground = await grounds.open(name as ContenderName);
    const measured = await drain({ name: name as ContenderName, ground, settings }, work);
    rounds.push(measured);
    console.error(
      `${JSON.stringify(settings)}: ${format(measured.figures[0] ?? 0)} / ${format(totalUs(measured.usage))}`,
    );
  }
}
for (const { settings, rounds } of tries) {
  const rate = format(median(rounds.map(({ figures }) => figures[0] ?? Number.NaN)));
  const us = format(median(rounds.map(({ usage }) => totalUs(usage))));
  console.log(`${JSON.stringify(settings)}: ${rate} jobs/s, ${us} µs of processor time per job`);
}

/** From `name=1,2` and the like: every choice of one value each. */
function combinations([range, ...others]: readonly string[]): Settings[] {
  if (range === undefined) return [{}];
  const [key = '', list = ''] = range.split('=');
  return list.split(',').flatMap((value) => combinations(others).map((rest) => ({ [key]: Number(value), ...rest })));
}
