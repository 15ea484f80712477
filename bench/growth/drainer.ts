/** A process that submits jobs and drains them, over and over, until its input ends. `node drainer.ts URL SCHEMA`; then it prints how many. */

import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';
import { sceneOn } from '../scene.ts';
import { measureDrain } from '../throughput.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const PIECE = 5_000;

const over = new AbortController();
process.stdin.once('end', () => over.abort());
process.stdin.resume();
let drained = 0;
const startedAt = performance.now();
while (!over.signal.aborted) {
  await measureDrain(
    async () => sceneOn(await openPostgres({ url, schema, poolSize: 10, migrate: false, log: silentLog })),
    PIECE,
  );
  if (drained === 0) console.log('drains');
  drained += PIECE;
}
console.log(Math.round((drained * 1_000) / (performance.now() - startedAt)));
