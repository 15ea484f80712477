/** A process that registers a worker attached to the database, says its id and stays. Arguments: URL, schema. */

import { register } from '../../contract/kit/steps.ts';
import { silentLog } from '../../src/ops/log.ts';
import { openPostgres } from '../../src/store/postgres/base/open.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const store = await openPostgres({ url, schema, log: silentLog });
const { id } = await register(store, { attachment: 'direct' });
console.log(id);
setInterval(() => undefined, 60_000);
