/**
 * About a minute: the processor time of a drained job, against graphile-worker's batches. Ends with 1 unless theirs divided by
 * ours is at least 1.3. A neighbour on the machine changes rates more than processor time, so rates are printed, not judged.
 *
 *   npm run bench:smoke [-- --jobs 70000]
 */

import { parseArgs } from 'node:util';
import { DISCIPLINES, type Discipline, figuresOf, PROCESSOR } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { begin, holdRound, ratioOf } from './hold.ts';
import { buildWorkron } from './peers/built.ts';
import { judge } from './verdict.ts';

const LEAST = 1.3;
const ROUNDS = 2;
const PEER = 'graphile-batch';

// With far fewer jobs, starting a worker decides; and what a backlog costs is part of what is compared.
const { values } = parseArgs({ options: { jobs: { type: 'string', default: '70000' } } });
installPeers();
buildWorkron();
await using grounds = await openGrounds({ redis: false });
const [drain] = DISCIPLINES as [Discipline, ...Discipline[]];
const result = begin({ ...drain, contenders: ['workron', PEER] }, grounds);
for (let round = 0; round < ROUNDS; round += 1) {
  await holdRound(result, grounds, { share: 1, maxJobs: Number(values.jobs) });
}
const figure = figuresOf(drain).findIndex(({ name }) => name === PROCESSOR);
const [ours = [], theirs = []] = (['workron', PEER] as const).map((name) => result.values.get(name)?.[figure]);
const { passed, message } = judge(ours, theirs, 'graphile-worker, batched', LEAST);
console.log(`${drain.title}, settled tables, ${ROUNDS} rounds: ${(ratioOf(result, PEER) ?? 0).toFixed(2)}× its rate`);
console.log(message);
process.exitCode = passed ? 0 : 1;
