/** Under a minute: how Workron drains against graphile-worker's batches. Ends with 1 below 1.7×. */

import { DISCIPLINES, type Discipline } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { hold, ratioOf } from './hold.ts';

const LEAST = 1.7;
const LONGEST_MS = 35_000;

installPeers();
await using grounds = await openGrounds({ redis: false });
const [drain] = DISCIPLINES as [Discipline, ...Discipline[]];
const pair: Discipline = { ...drain, contenders: ['workron', 'graphile-batch'] };
const result = await hold(pair, grounds, { rounds: 3, share: 0.3, until: performance.now() + LONGEST_MS });
const ratio = ratioOf(result, 'graphile-batch') ?? 0;
console.log(`drain, 1 process × 24: ${ratio.toFixed(2)}× graphile-worker, batched (at least ${LEAST}×)`);
process.exitCode = ratio < LEAST ? 1 : 0;
