/** BullMQ on Redis, which syncs its file every second: less durable than the others. */

import type { Contender, JobInput, OpenContender } from '../contender.ts';
import { installed } from './installed.ts';

interface Queue {
  obliterate(options: object): Promise<void>;
  add(name: string, data: JobInput): Promise<unknown>;
  addBulk(jobs: { name: string; data: JobInput }[]): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  close(): Promise<void>;
}

interface BullMq {
  Queue: new (name: string, options: object) => Queue;
  Worker: new (
    name: string,
    handler: (job: { data: JobInput }) => Promise<void>,
    options: object,
  ) => { close(force: boolean): Promise<void>; waitUntilReady(): Promise<unknown> };
}

const QUEUE = 'noop';

export const open: OpenContender = async ({ url }): Promise<Contender> => {
  const { Queue, Worker } = await installed<BullMq>('bullmq');
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const queue = new Queue(QUEUE, { connection });
  const stack = new AsyncDisposableStack();
  return {
    connect: async () => undefined,
    prepare: () => queue.obliterate({ force: true }),
    async submit(input) {
      await queue.add('noop', input);
    },
    async submitMany(count) {
      await queue.addBulk(Array.from({ length: count }, () => ({ name: 'noop', data: { at: 0 } })));
    },
    async work(slots, onJob) {
      const worker = new Worker(QUEUE, async ({ data }) => onJob(data), { connection, concurrency: slots });
      await worker.waitUntilReady();
      stack.defer(() => worker.close(true));
    },
    async isDrained() {
      const { wait = 0, active = 0, prioritized = 0 } = await queue.getJobCounts('wait', 'active', 'prioritized');
      return wait + active + prioritized === 0;
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync();
      await queue.close();
    },
  };
};
