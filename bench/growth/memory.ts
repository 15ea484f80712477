/** Memory of a scheduler with a million pending jobs, after its duties have run and thousands of jobs were drained. */

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemClock } from '../../src/ops/clock.ts';
import { silentLog } from '../../src/ops/log.ts';
import { httpSource } from '../../src/worker/http-source.ts';
import { Worker } from '../../src/worker/worker.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../../test/kit/workron-process.ts';
import { PENDING, piled } from './piles.ts';
import { printHead, printRow, type Section, verdict, whole } from './section.ts';
import { fillPending } from './sqlite-piles.ts';
import { startScheduler } from './workron.ts';

const DRAINED = 5_000;
const DUTIES_MS = 10_000;
const MAX_MB = 300;
const IN_MEMORY = 200_000;

export const memory: Section = {
  name: 'memory',
  title: 'Memory',
  async run(grounds) {
    const pending = grounds.sized(PENDING.many);
    printHead(['what', 'pending', 'resident', 'highest', 'goal']);
    {
      await using scheduler = await startScheduler(grounds, await piled(grounds, PENDING, pending));
      await weigh('scheduler on PostgreSQL', pending, scheduler);
    }
    {
      await using folder = await temporaryFolder();
      await fillPending(join(folder.path, 'workron.db'), pending);
      await using scheduler = await startWorkron({
        args: ['up', '--port', '0', '--role', 'api,scheduler', '--log-level', 'error'],
        cwd: folder.path,
      });
      await weigh('scheduler on SQLite', pending, scheduler);
    }
    const jobs = grounds.sized(IN_MEMORY);
    const file = new URL('memory-store.ts', import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', file, String(jobs)]);
    console.log(`\nThe memory store holds ${whole(jobs)} pending jobs in ${whole(Number(stdout))} bytes each.`);
  },
};

async function weigh(what: string, pending: number, scheduler: WorkronProcess): Promise<void> {
  await drainOverHttp(scheduler.url, Math.min(DRAINED, pending));
  await sleep(DUTIES_MS);
  const status = await readFile(`/proc/${scheduler.pid}/status`, 'utf8');
  const megabytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024;
  const resident = megabytes('VmRSS');
  printRow([
    what,
    whole(pending),
    `${whole(resident)} MB`,
    `${whole(megabytes('VmHWM'))} MB`,
    verdict(resident, MAX_MB, ' MB'),
  ]);
}

async function drainOverHttp(url: string, jobs: number): Promise<void> {
  await using source = httpSource({ urls: [url], token: null, log: silentLog, version: '0' });
  let handled = 0;
  const finished = Promise.withResolvers<void>();
  const worker = new Worker({
    source,
    profile: { name: 'growth', slots: 100, queues: null, commands: false, handlers: ['noop'], tags: [], resources: {} },
    handlers: {
      noop: () => {
        handled += 1;
        if (handled === jobs) finished.resolve();
      },
    },
    clock: systemClock,
    random: Math.random,
    log: silentLog,
  });
  const running = worker.run();
  await finished.promise;
  await worker.drain();
  await running;
}
