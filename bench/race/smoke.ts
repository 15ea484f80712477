/** Under a minute: how Workron drains against graphile-worker's batches. Ends with 1 below 1.7×. */

import { DISCIPLINES, type Discipline } from './discipline.ts';
import { installPeers, openGrounds } from './grounds.ts';
import { hold, ratioOf } from './hold.ts';
import { buildWorkron } from './peers/built.ts';

const LEAST = 1.7;
const ROUNDS = 2;
/** No round is begun after so long. */
const MAX_MS = 30_000;
/** Of the jobs of the race. With far fewer, starting decides; and what a backlog costs is part of what is compared. */
const SHARE = 0.7;

installPeers();
buildWorkron();
const startedAt = performance.now();
await using grounds = await openGrounds({ redis: false });
const [drain] = DISCIPLINES as [Discipline, ...Discipline[]];
const pair: Discipline = { ...drain, contenders: ['workron', 'graphile-batch'] };
const result = await hold(pair, grounds, { rounds: ROUNDS, share: SHARE, until: startedAt + MAX_MS });
const ratio = ratioOf(result, 'graphile-batch') ?? 0;
console.log(`drain, 1 process × 24: ${ratio.toFixed(2)}× graphile-worker, batched (at least ${LEAST}×)`);
process.exitCode = ratio < LEAST ? 1 : 0;
