/**
 * One process of the soak: `node load.ts submit URL RATE` submits jobs one by one at a steady rate, `node load.ts work URL SLOTS`
 * runs them. It ends when its input ends; `submit` then prints how many it has submitted.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { built } from '../race/peers/built.ts';

const [role = '', url = '', amount = ''] = process.argv.slice(2);
/** Jobs are submitted in this rhythm, whether the ones before have been answered or not. */
const STEP_MS = 10;
/** A submitter that is this far behind waits: what it holds in memory is bounded. */
const MAX_IN_FLIGHT = 20_000;

const over = new AbortController();
process.stdin.once('end', () => over.abort());
process.stdin.resume();

const { job, open } = await built();
const noop = job('noop', { run: () => ({ ok: true }) });
const workron = await open(url, { log: 'error' });
if (role === 'work') {
  await workron.start({ jobs: [noop], concurrency: Number(amount) });
  console.log('ready');
  await new Promise((resolve) => over.signal.addEventListener('abort', resolve, { once: true }));
} else {
  console.log('ready');
  console.log(await submitSteadily(Number(amount)));
}
await workron.stop();

async function submitSteadily(rate: number): Promise<number> {
  const startedAt = performance.now();
  let sent = 0;
  let inFlight = 0;
  while (!over.signal.aborted) {
    const due = Math.floor(((performance.now() - startedAt) * rate) / 1_000);
    for (; sent < due && inFlight < MAX_IN_FLIGHT; sent += 1) {
      inFlight += 1;
      void workron.submit(noop, { place: sent }).then(() => {
        inFlight -= 1;
      });
    }
    await sleep(STEP_MS);
  }
  while (inFlight > 0) await sleep(STEP_MS);
  return sent;
}
