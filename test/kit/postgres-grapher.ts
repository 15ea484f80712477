/** A process that propagates ends, or fills groups, in batches, and prints a line after each. Arguments: URL, schema, what, how many at a time. */

import { forever } from '../../contract/kit/steps.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';

const [url = '', schema = '', what = '', limit = ''] = process.argv.slice(2);
const store = await openPostgres({ url, schema, log: silentLog });
for (;;) {
  const done = await (what === 'expand' ? store.expand(Number(limit), forever) : store.cascade(Number(limit), forever));
  console.log(done);
  if (done === 0) break;
}
setInterval(() => undefined, 60_000);
