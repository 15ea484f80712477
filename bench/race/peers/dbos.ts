/**
 * DBOS: a job is a workflow without steps on a queue. It has no call for many; single calls at once, over its pool, were three
 * times as fast as single calls in one transaction.
 */

import type { Contender, JobInput, OpenContender } from '../contender.ts';
import { installed } from './installed.ts';

interface Dbos {
  DBOS: {
    setConfig(config: object): void;
    migrate(url: string): Promise<void>;
    launch(): Promise<void>;
    shutdown(options?: object): Promise<void>;
    registerWorkflow(body: (input: JobInput) => Promise<void>, options: object): unknown;
  };
  DBOSClient: { create(options: object): Promise<Client> };
}

interface Client {
  registerQueue(name: string, options: object): Promise<unknown>;
  enqueue(options: object, input: JobInput): Promise<unknown>;
  destroy(): Promise<void>;
}

const NAME = 'race';
const TARGET = { queueName: 'noop', workflowName: 'noop' };
const nothing = () => undefined;
const logger = { info: nothing, debug: nothing, warn: nothing, error: nothing };

export const open: OpenContender = async ({ url, settings }): Promise<Contender> => {
  const { DBOS, DBOSClient } = await installed<Dbos>('@dbos-inc/dbos-sdk');
  const { workerConcurrency, minPollingIntervalMs, systemDatabasePoolSize } = settings;
  const shared = { systemDatabaseUrl: url, systemDatabasePoolSize, logger };
  let client: Client | undefined;
  let working = false;
  let handler: (input: JobInput) => void = nothing;
  DBOS.setConfig({ ...shared, name: NAME, executorID: String(process.pid), applicationVersion: NAME });
  DBOS.registerWorkflow(async (input) => handler(input), { name: TARGET.workflowName });
  const connect = async () => {
    client = await DBOSClient.create({ ...shared, applicationName: NAME });
  };
  return {
    connect,
    async prepare() {
      await DBOS.migrate(url);
      await connect();
      await client?.registerQueue(TARGET.queueName, { workerConcurrency, minPollingIntervalMs });
    },
    async submit(input) {
      await client?.enqueue(TARGET, input);
    },
    async submitMany(inputs) {
      await Promise.all(inputs.map(async (input) => await client?.enqueue(TARGET, input)));
    },
    async work(_slots, onJob) {
      handler = onJob;
      await DBOS.launch();
      working = true;
    },
    async rest() {
      await DBOS.shutdown();
      working = false;
    },
    async [Symbol.asyncDispose]() {
      if (working) await DBOS.shutdown();
      await client?.destroy();
    },
  };
};
