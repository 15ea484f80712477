/** A test that forgets to dispose of its kit. The arguments are the store, and its schema if it has one. */

import { job } from '../../src/index.ts';
import { openTestKit } from '../../src/testing.ts';

const hello = job('hello', {
  run: (name: string, { log }) => {
    log(`hello ${name}`);
    return name;
  },
});

const [, , url, schema] = process.argv;
const kit = await openTestKit({ jobs: [hello], url, schema });
const handle = await kit.workron.submit(hello, 'world');
const result = handle.result();
await kit.advance('1h');
await kit.runAll();
if ((await result) === 'world') console.log('done');
