/**
 * Runs the job of test/process/durable.test.ts, and kills itself after the first line of the handler that no process before it has reached.
 * Arguments: url, schema, lease, a file for what has happened, the job.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { job, open } from '../../src/index.ts';

const [url = '', schema = '', lease = '', file = '', id = ''] = process.argv.slice(2);

function happened(): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
}

/** Ends the process here, the first time that this line is reached. */
function line(name: string): void {
  if (happened().includes(name)) return;
  appendFileSync(file, `${name}\n`);
  process.kill(process.pid, 'SIGKILL');
}

const durable = job('durable', {
  async run(_: null, { step, sleep }) {
    line('begins');
    let sum = 0;
    for (let place = 1; place <= 5; place += 1) {
      sum += await step(['step', place], () => {
        appendFileSync(file, `runs ${place}\n`);
        line(`in ${place}`);
        return place;
      });
      line(`after ${place}`);
      if (place === 3) await sleep('nap', 1_100);
    }
    return sum;
  },
});

const workron = await open(url, {
  ...(schema !== '' && { schema }),
  ...(!url.startsWith('http') && { lease: Number(lease) }),
  log: 'silent',
});
await workron.start({ jobs: [durable] });
const ended = await workron.handle(id).ended({ timeout: '60s' });
console.log(JSON.stringify({ status: ended.status, result: ended.result }));
await workron.stop();
