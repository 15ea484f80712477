/**
 * The rates of one Workron on this machine, per store. Absolute figures drift with the machine: compare within one run.
 * `npm run bench [-- --store sqlite,postgres] [--only drain,latency] [--rounds 3] [--jobs 20000] [--schedules 1,1000]`
 */

import { parseArgs } from 'node:util';
import { DRIVERS, type Driver } from '../src/core/driver.ts';
import { measureGraph } from './graph.ts';
import { measureIdle } from './idle.ts';
import { measureLatency } from './latency.ts';
import { type Figure, table } from './measure.ts';
import { type OpenScene, scenes } from './scene.ts';
import { measureShell } from './shell.ts';
import { measureTakeover } from './takeover.ts';
import { type Drained, drain, measureBulk, measureSingles } from './throughput.ts';
import { measureTicks } from './ticks.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: DRIVERS.join(',') },
    only: { type: 'string', default: 'singles,bulk,drain,graph,latency,shell,idle,ticks' },
    rounds: { type: 'string', default: '3' },
    jobs: { type: 'string', default: '20000' },
    schedules: { type: 'string', default: '1,1000,100000' },
  },
});
const rounds = Number(values.rounds);
const jobs = Number(values.jobs);
const only = values.only.split(',');
const figures: Figure[] = [];

for (const driver of values.store.split(',') as Driver[]) {
  await using on = await scenes(driver);
  const repeat = async (what: string, unit: string, measure: () => Promise<number>) => {
    const figure: Figure = { what, store: driver, unit, values: [] };
    figures.push(figure);
    for (let round = 0; round < rounds; round += 1) figure.values.push(await measure());
    console.error(table([figure]).split('\n')[1]);
  };
  if (only.includes('singles')) await repeat('submits, 50 in flight', 'jobs/s', () => measureSingles(on.open, jobs));
  if (only.includes('bulk')) await repeat('submits, 1,000 a call', 'jobs/s', () => measureBulk(on.open, jobs));
  if (only.includes('drain')) figures.push(...(await drainFigures(driver, on.open)));
  if (only.includes('graph')) {
    const figure = (what: string, unit: string): Figure => ({ what, store: driver, unit, values: [] });
    const [stored, drained, share] = [
      figure('steps of a graph stored in one call', 'jobs/s'),
      figure('steps of a graph drained, 24 slots', 'jobs/s'),
      figure('graph against independent jobs', '×'),
    ];
    figures.push(stored, drained, share);
    for (let round = 0; round < rounds; round += 1) {
      const graph = await measureGraph(on.open, jobs);
      stored.values.push(graph.stored);
      drained.values.push(graph.drained);
      share.values.push(graph.share);
    }
  }
  if (only.includes('latency')) {
    const figure = (what: string): Figure => ({ what, store: driver, unit: 'ms', values: [] });
    const [p50, p99] = [figure('submit to start, p50'), figure('submit to start, p99')];
    figures.push(p50, p99);
    for (let round = 0; round < rounds; round += 1) {
      const latency = await measureLatency(on.open);
      p50.values.push(latency.p50);
      p99.values.push(latency.p99);
    }
  }
  if (only.includes('shell')) {
    const figure = (what: string, unit: string): Figure => ({ what, store: driver, unit, values: [] });
    const [ours, bare, ratio] = [
      figure('shell jobs `true`, 4 slots', 'jobs/s'),
      figure('bare spawn with pipes, 4 at once', 'spawns/s'),
      figure('shell jobs against bare spawn', '×'),
    ];
    figures.push(ours, bare, ratio);
    for (let round = 0; round < rounds; round += 1) {
      const shell = await measureShell(on.open);
      ours.values.push(shell.ours);
      bare.values.push(shell.bare);
      ratio.values.push(shell.ours / shell.bare);
    }
  }
  if (only.includes('ticks')) {
    for (const count of values.schedules.split(',').map(Number)) {
      const { p50, p99 } = await measureTicks(on.open, count);
      const named = (what: string, value: number): Figure => ({ what, store: driver, unit: 'ms', values: [value] });
      const among = `tick lateness, ${count.toLocaleString('en')} schedules`;
      figures.push(named(`${among}, p50`, p50), named(`${among}, p99`, p99));
    }
  }
  if (only.includes('idle')) figures.push(...(await measureIdle(driver, on)));
}
if (only.includes('takeover')) figures.push(...(await measureTakeover(rounds)));
console.log(table(figures));

/** The rate, and what a job costs; what does not apply to the store is left out. */
async function drainFigures(driver: Driver, open: OpenScene): Promise<Figure[]> {
  const drained: Drained[] = [];
  for (let round = 0; round < rounds; round += 1) drained.push(await drain(open, jobs));
  const figure = (what: string, unit: string, of: (one: Drained) => number): Figure => ({
    what,
    store: driver,
    unit,
    values: drained.map(of),
  });
  const all = [
    figure('no-op jobs drained, 24 slots', 'jobs/s', ({ perSecond }) => perSecond),
    figure('… processor time per job, this process', 'µs', ({ usage }) => usage.nodeUs),
    figure('… processor time per job, PostgreSQL', 'µs', ({ usage }) => usage.serverUs),
    figure('… WAL per job', 'bytes', ({ usage }) => usage.walBytes),
    figure('… WAL per job without page images', 'bytes', ({ usage }) => usage.walBytesWithoutPages),
  ];
  return all.filter(({ values }) => values.every((value) => value > 0));
}
