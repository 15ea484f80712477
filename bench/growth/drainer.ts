/** `node drainer.ts URL SCHEMA`: submits and drains jobs until its input ends, and then prints their number. */

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
