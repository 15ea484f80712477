/** BullMQ on Redis, which syncs its file every second: less durable than the others. */

import type { Contender, JobInput, OpenContender } from '../contender.ts';
import { installed } from './installed.ts';

interface Queue {
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: JobInput): Promise<unknown>;
  addBulk(jobs: { name: string; data: JobInput }[]): Promise<unknown>;
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
  let worker: InstanceType<BullMq['Worker']> | undefined;
  const connect = async () => void (await queue.waitUntilReady());
  return {
    connect,
    prepare: connect,
    async submit(input) {
      await queue.add('noop', input);
    },
    async submitMany(inputs) {
      await queue.addBulk(inputs.map((data) => ({ name: 'noop', data })));
    },
    async work(slots, onJob) {
      worker = new Worker(QUEUE, async ({ data }) => onJob(data), { connection, concurrency: slots });
      await worker.waitUntilReady();
    },
    async rest() {
      await worker?.close(false);
      worker = undefined;
    },
    async [Symbol.asyncDispose]() {
      await worker?.close(true);
      await queue.close();
    },
  };
};
