/** A process that migrates a schema. Arguments: URL, schema. */

import { migrate } from '../../src/store/postgres/base/migrate.ts';

const [url = '', schema = ''] = process.argv.slice(2);
console.log(JSON.stringify(await migrate({ url, schema })));
