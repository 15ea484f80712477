/** The dashboard's queries with millions of stored jobs, while another process submits and drains as fast as it can. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endOnExit } from '../../test/kit/end-on-exit.ts';
import { askOften, QUESTIONS } from '../ui/questions.ts';
import type { Grounds } from './grounds.ts';
import { ENDED, piled } from './piles.ts';
import { printHead, printRow, type Section, verdict, whole } from './section.ts';
import { startScheduler } from './workron.ts';

const MAX_MS = 200;

export const lists: Section = {
  name: 'lists',
  title: 'Lists and filters while jobs are drained',
  async run(grounds) {
    const jobs = grounds.sized(ENDED.many);
    const schema = await piled(grounds, ENDED, jobs);
    await using scheduler = await startScheduler(grounds, schema);
    await using drainer = await startDrainer(grounds, schema);
    printHead([`list, ${whole(jobs)} jobs kept`, 'p95', 'goal']);
    for (const [what, query] of QUESTIONS) {
      const { p95Ms } = await askOften(scheduler.url, query);
      printRow([what, `${p95Ms.toFixed(0)} ms`, verdict(p95Ms, MAX_MS, ' ms')]);
    }
    console.log(`\nMeanwhile ${whole(await drainer.stop())} jobs a second were submitted and drained.`);
  },
};

interface Drainer extends AsyncDisposable {
  /** Resolves with the number of jobs per second that it submitted and drained. */
  stop: () => Promise<number>;
}

async function startDrainer({ url }: Grounds, schema: string): Promise<Drainer> {
  const file = new URL('drainer.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [file, url, schema], { stdio: ['pipe', 'pipe', 'inherit'] });
  endOnExit('process', child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const line = await lines.next();
    if (line.done) throw new Error('the drainer process ended early');
    return line.value;
  };
  await next();
  return {
    stop: async () => {
      child.stdin.end();
      return Number(await next());
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
