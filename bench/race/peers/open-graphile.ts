import pg from 'pg';
import type { Contender, JobInput } from '../contender.ts';
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
  let pool = newPool(url);
  let utils: Utils | undefined;
  let runner: { stop(): Promise<void> } | undefined;
  const connect = async () => {
    utils = await graphile.makeWorkerUtils({ pgPool: pool, logger });
  };
  const close = async () => {
    await runner?.stop();
    runner = undefined;
    await utils?.release();
    await pool.end();
  };
  return {
    connect,
    async prepare() {
      await graphile.runMigrations({ pgPool: pool, logger });
      await connect();
    },
    async submit(input) {
      await utils?.addJob('noop', input);
    },
    async submitMany(inputs) {
      await utils?.addJobs(inputs.map((payload) => ({ identifier: 'noop', payload })));
    },
    async work(slots, onJob) {
      const preset = { worker: { ...worker, concurrentJobs: slots, pollInterval: 2_000 } };
      runner = await graphile.run({
        preset,
        pgPool: pool,
        logger,
        noHandleSignals: true,
        taskList: { noop: (payload: JobInput) => onJob(payload) },
      });
    },
    async rest() {
      await close();
      pool = newPool(url);
      await connect();
    },
    [Symbol.asyncDispose]: close,
  };
}

/** As many connections as jobs at once, one to listen, and one to spare. */
function newPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 26 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
