/**
 * A worker whose handler ends the process for one job, the poison. Arguments: URL, schema, lease in milliseconds, a file for the ids
 * of all jobs that start, the poison's id, the ids of the other jobs. Prints all jobs once they have ended.
 */

import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { job, open } from '../../src/index.ts';

const [url = '', schema = '', lease = '', starts = '', poison = '', ...others] = process.argv.slice(2);
const work = job('work', {
  run: async (_: number, { id }) => {
    appendFileSync(starts, `${id}\n`);
    if (id === poison) process.kill(process.pid, 'SIGKILL');
    await setTimeout(1);
  },
});
const options = url.startsWith('http:') ? {} : { lease: Number(lease), ...(schema === '' ? {} : { schema }) };
const workron = await open(url, { log: 'silent', ...options });
await workron.start({ jobs: [work], concurrency: 4 });
const ended = await Promise.all([poison, ...others].map((id) => workron.handle(id).ended()));
console.log(
  JSON.stringify(ended.map(({ id, status, failures, interruptions }) => ({ id, status, failures, interruptions }))),
);
await workron.stop();
