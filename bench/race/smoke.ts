/** Under a minute: how Workron drains against graphile-worker's batches. Ends with 1 below 1.7×. */

import { DISCIPLINES, type Discipline } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { hold, ratioOf } from './hold.ts';
import { buildWorkron } from './peers/built.ts';

const LEAST = 1.7;
const ROUNDS = 3;
/** Of it all; what is under way then still ends. */
const LONGEST_MS = 45_000;
/** Of the jobs of the race: a first round shows how many the machine can take now. */
const SHARE = { first: 0.03, most: 0.3 };

installPeers();
buildWorkron();
const startedAt = performance.now();
await using grounds = await openGrounds({ redis: false });
const [drain] = DISCIPLINES as [Discipline, ...Discipline[]];
const pair: Discipline = { ...drain, contenders: ['workron', 'graphile-batch'] };
const until = startedAt + LONGEST_MS;
const firstAt = performance.now();
const first = await hold(pair, grounds, { rounds: 1, share: SHARE.first, until });
const roundMs = performance.now() - firstAt;
const fits = (until - performance.now()) / ROUNDS / roundMs;
// On a machine too busy for more, the first round has to do.
const result =
  fits < 1
    ? first
    : await hold(pair, grounds, { rounds: ROUNDS, share: Math.min(SHARE.most, SHARE.first * fits), until });
const ratio = ratioOf(result, 'graphile-batch') ?? 0;
console.log(`drain, 1 process × 24: ${ratio.toFixed(2)}× graphile-worker, batched (at least ${LEAST}×)`);
process.exitCode = ratio < LEAST ? 1 : 0;
