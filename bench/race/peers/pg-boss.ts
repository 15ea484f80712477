/** pg-boss with large batches, bursts and notifications. */

import type { Contender, JobInput, OpenContender } from '../contender.ts';
import { installed } from './installed.ts';

interface Boss {
  on(event: string, listener: () => void): void;
  start(): Promise<void>;
  stop(options: object): Promise<void>;
  createQueue(name: string, options: object): Promise<void>;
  send(name: string, data: JobInput): Promise<unknown>;
  insert(name: string, jobs: { data: JobInput }[]): Promise<unknown>;
  work(name: string, options: object, handler: (jobs: { data: JobInput }[]) => Promise<void>): Promise<unknown>;
}

const QUEUE = 'noop';

export const open: OpenContender = async ({ url, settings }): Promise<Contender> => {
  const { PgBoss } = await installed<{ PgBoss: new (options: object) => Boss }>('pg-boss');
  const newBoss = () => {
    const made = new PgBoss({ connectionString: url, useListenNotify: true, schedule: false });
    made.on('error', () => undefined);
    return made;
  };
  let boss = newBoss();
  return {
    connect: () => boss.start(),
    async prepare() {
      await boss.start();
      await boss.createQueue(QUEUE, { notify: true });
    },
    async submit(input) {
      await boss.send(QUEUE, input);
    },
    async submitMany(inputs) {
      await boss.insert(
        QUEUE,
        inputs.map((data) => ({ data })),
      );
    },
    // A batch goes to one call of the handler, so there are no slots: all jobs of a batch count as started.
    async work(_slots, onJob) {
      const options = { ...settings, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
      await boss.work(QUEUE, options, async (jobs) => {
        for (const { data } of jobs) onJob(data);
      });
    },
    async rest() {
      await boss.stop({ graceful: true, close: true });
      boss = newBoss();
      await boss.start();
    },
    [Symbol.asyncDispose]: () => boss.stop({ graceful: false, close: true }),
  };
};
