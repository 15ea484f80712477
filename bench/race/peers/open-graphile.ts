import pg from 'pg';
import type { Contender, JobInput } from '../contender.ts';
import { dropSchema } from './drop-schema.ts';
import { installed } from './installed.ts';

interface Graphile {
  run(options: object): Promise<{ stop(): Promise<void> }>;
  runMigrations(options: object): Promise<void>;
  makeWorkerUtils(options: object): Promise<Utils>;
  Logger: new (factory: () => () => void) => object;
}

interface Utils {
  addJob(task: string, payload: JobInput): Promise<unknown>;
  addJobs(jobs: { identifier: string; payload: JobInput }[]): Promise<unknown>;
  release(): Promise<void>;
}

/** `worker` holds settings of its preset besides the number of concurrent jobs. */
export async function openGraphile(url: string, worker: object): Promise<Contender> {
  const graphile = await installed<Graphile>('graphile-worker');
  const logger = new graphile.Logger(() => () => undefined);
  const pool = new pg.Pool({ connectionString: url, max: 26 });
  const stack = new AsyncDisposableStack();
  let utils: Utils | undefined;
  const connect = async () => {
    utils = await graphile.makeWorkerUtils({ pgPool: pool, logger });
  };
  return {
    connect,
    async prepare() {
      await dropSchema(url, 'graphile_worker');
      await graphile.runMigrations({ pgPool: pool, logger });
      await connect();
    },
    async submit(input) {
      await utils?.addJob('noop', input);
    },
    async submitMany(count) {
      await utils?.addJobs(Array.from({ length: count }, () => ({ identifier: 'noop', payload: { at: 0 } })));
    },
    async work(slots, onJob) {
      const preset = { worker: { ...worker, concurrentJobs: slots, pollInterval: 2_000 } };
      const runner = await graphile.run({
        preset,
        pgPool: pool,
        logger,
        noHandleSignals: true,
        taskList: { noop: (payload: JobInput) => onJob(payload) },
      });
      stack.defer(() => runner.stop());
    },
    async isDrained() {
      return (await pool.query('select 1 from graphile_worker._private_jobs limit 1')).rows.length === 0;
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync();
      await utils?.release();
      await pool.end();
    },
  };
}
