/** pg-boss with large batches, bursts and notifications. */

import pg from 'pg';
import type { Contender, JobInput, OpenContender } from '../contender.ts';
import { dropSchema } from './drop-schema.ts';
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

export const open: OpenContender = async ({ url }): Promise<Contender> => {
  const { PgBoss } = await installed<{ PgBoss: new (options: object) => Boss }>('pg-boss');
  const boss = new PgBoss({ connectionString: url, useListenNotify: true, schedule: false });
  boss.on('error', () => undefined);
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  return {
    connect: () => boss.start(),
    async prepare() {
      await dropSchema(url, 'pgboss');
      await boss.start();
      await boss.createQueue(QUEUE, { notify: true });
    },
    async submit(input) {
      await boss.send(QUEUE, input);
    },
    async submitMany(count) {
      await boss.insert(
        QUEUE,
        Array.from({ length: count }, () => ({ data: { at: 0 } })),
      );
    },
    async work(slots, onJob) {
      const options = {
        batchSize: 500,
        localConcurrency: Math.min(slots, 2),
        pollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      };
      await boss.work(QUEUE, options, async (jobs) => {
        for (const { data } of jobs) onJob(data);
      });
    },
    async isDrained() {
      const { rows } = await pool.query(`select 1 from pgboss.job where name = $1 and state < 'completed' limit 1`, [
        QUEUE,
      ]);
      return rows.length === 0;
    },
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: false, close: true });
      await pool.end();
    },
  };
};
