/** Claims while a session holds an old snapshot (a forgotten `begin`, a backup), so that dead rows cannot be vacuumed. */

import { median, percentile } from '../measure.ts';
import { drain, submitMany } from './drain.ts';
import { connect, type Grounds } from './grounds.ts';
import { printHead, printRow, type Section, verdict, whole } from './section.ts';

const JOBS = 300_000;
const PAIRS = 2;
const MAX_RATIO = 3;

export const snapshot: Section = {
  name: 'snapshot',
  title: 'An open snapshot',
  async run(grounds) {
    const jobs = grounds.sized(JOBS);
    printHead(['jobs drained', 'snapshot', 'claim p50', 'claim p99', 'jobs per second', 'p99 against without', 'goal']);
    const ratios: number[] = [];
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const without = await timedDrain(grounds, { jobs, held: false });
      printRow([whole(jobs), 'none', ...figures(without), '', '']);
      const held = await timedDrain(grounds, { jobs, held: true });
      ratios.push(held.p99 / without.p99);
      const ratio = median(ratios);
      printRow([whole(jobs), 'held open', ...figures(held), `${ratio.toFixed(2)}×`, verdict(ratio, MAX_RATIO, '×')]);
    }
  },
};

interface Timed {
  p50: number;
  p99: number;
  perSecond: number;
}

async function timedDrain(grounds: Grounds, { jobs, held }: { jobs: number; held: boolean }): Promise<Timed> {
  const schema = 'snapshot';
  await grounds.client.query(`drop schema if exists ${schema} cascade`);
  await using store = await grounds.open(schema);
  await submitMany(store, jobs, () => ({}));
  await grounds.client.query(`vacuum analyze ${schema}.live, ${schema}.job`);
  await using stack = new AsyncDisposableStack();
  if (held) {
    const holder = await connect(grounds.url);
    stack.defer(() => holder.end());
    await holder.query('begin isolation level repeatable read');
    await holder.query(`select count(*) from ${schema}.lane`);
  }
  const times: number[] = [];
  const startedAt = performance.now();
  await drain(store, jobs, (ms) => times.push(ms));
  const perSecond = (jobs * 1_000) / (performance.now() - startedAt);
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), perSecond };
}

function figures({ p50, p99, perSecond }: Timed): string[] {
  return [`${p50.toFixed(1)} ms`, `${p99.toFixed(1)} ms`, whole(perSecond)];
}
