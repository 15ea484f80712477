/** Compares the drain rate with graphile-worker's batches in under a minute. Exits with 1 below a ratio of 1.7. */

import { DISCIPLINES, type Discipline } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { hold, ratioOf } from './hold.ts';
import { buildWorkron } from './peers/built.ts';

const MIN_RATIO = 1.7;
const ROUNDS = 2;
/** No round starts after this time. */
const MAX_MS = 30_000;
/** The share of the race's jobs. With far fewer the start would dominate, and a backlog is part of the comparison. */
const SHARE = 0.7;

installPeers();
buildWorkron();
const startedAt = performance.now();
await using grounds = await openGrounds({ redis: false });
const [drain] = DISCIPLINES as [Discipline, ...Discipline[]];
const pair: Discipline = { ...drain, contenders: ['workron', 'graphile-batch'] };
const result = await hold(pair, grounds, { rounds: ROUNDS, share: SHARE, until: startedAt + MAX_MS });
const ratio = ratioOf(result, 'graphile-batch') ?? 0;
console.log(`drain, 1 process × 24: ${ratio.toFixed(2)}× graphile-worker, batched (at least ${MIN_RATIO}×)`);
process.exitCode = ratio < MIN_RATIO ? 1 : 0;
