/** Workron through its library, with its defaults: history, statistics, indexes, timeouts, abort signals, results. */

import pg from 'pg';
import type { Workron } from '../../../src/index.ts';
import type { Contender, JobInput, Place } from '../contender.ts';
import { built } from './built.ts';
import { dropSchema } from './drop-schema.ts';

const { job, open: openWorkron } = await built();
const declared = job('noop');

export async function open({ url }: Place): Promise<Contender> {
  let workron: Workron | undefined;
  const connect = async () => {
    workron = await openWorkron(url, { log: 'silent' });
  };
  const app = () => workron as Workron;
  let drained: (() => Promise<boolean>) | undefined;
  const stack = new AsyncDisposableStack();
  return {
    connect,
    async prepare() {
      if (url.startsWith('postgres')) await dropSchema(url, 'workron');
      await connect();
    },
    async submit(input) {
      await app().submit(declared, input);
    },
    async submitMany(count) {
      await app().submitAll(
        declared,
        Array.from({ length: count }, () => ({ at: 0 })),
      );
    },
    async work(slots, onJob) {
      const noop = declared.handle((input) => onJob(input as JobInput));
      await app().start({ jobs: [noop], concurrency: slots });
    },
    async isDrained() {
      drained ??= await (url.startsWith('postgres') ? askServer : askFile)(stack, url);
      return await drained();
    },
    async [Symbol.asyncDispose]() {
      await workron?.stop();
      await stack.disposeAsync();
    },
  };
}

async function askFile(stack: AsyncDisposableStack, file: string): Promise<() => Promise<boolean>> {
  const { DatabaseSync } = await import('node:sqlite');
  const database = new DatabaseSync(file, { readOnly: true });
  stack.defer(() => database.close());
  const look = database.prepare('select 1 from live limit 1');
  return async () => look.get() === undefined;
}

async function askServer(stack: AsyncDisposableStack, url: string): Promise<() => Promise<boolean>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  stack.defer(() => client.end());
  return async () => (await client.query('select 1 from workron.live limit 1')).rows.length === 0;
}
