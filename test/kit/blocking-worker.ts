/**
 * An application that runs two jobs: `block` blocks the event loop until a file appears, `wait` runs
 * at the same time. Arguments: URL, schema, lease in milliseconds, a file
 * with the server's authority.
 */

import { existsSync, readFileSync } from 'node:fs';
import { job, open } from '../../src/index.ts';

const [url = '', schema = '', lease = '', ca = ''] = process.argv.slice(2);
const released = Promise.withResolvers<void>();

const block = job('block', {
  run: (file: string) => {
    console.log('blocked');
    const cell = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(file)) Atomics.wait(cell, 0, 0, 20);
    released.resolve();
    return 'blocked here';
  },
});
const wait = job('wait', {
  run: async (_: void, { signal }) => {
    console.log('waits');
    signal.addEventListener('abort', () => released.reject(signal.reason as Error));
    await released.promise;
    return 'waited here';
  },
});

const trusted = ca === '' ? {} : { ca: readFileSync(ca, 'utf8') };
const options = { ...trusted, ...(schema === '' ? {} : { schema }) };
const workron = await open(url, { log: 'silent', lease: Number(lease), ...options });
await workron.start({ jobs: [block, wait], duties: false });
process.once('SIGTERM', () => void workron.stop());
