/** Workron through its library, with its defaults: history, statistics, indexes, timeouts, abort signals, results. */

import type { Workron } from '../../../src/index.ts';
import type { Contender, JobInput, Place } from '../contender.ts';
import { built } from './built.ts';

const { job, open: openWorkron } = await built();
const declared = job('noop');

export async function open({ url }: Pick<Place, 'url'>): Promise<Contender> {
  let workron: Workron | undefined;
  const connect = async () => {
    workron = await openWorkron(url, { log: 'silent' });
  };
  const app = () => workron as Workron;
  return {
    connect,
    prepare: connect,
    async submit(input) {
      await app().submit(declared, input);
    },
    async submitMany(inputs) {
      await app().submitAll(declared, inputs);
    },
    async work(slots, onJob) {
      const noop = declared.handle((input) => onJob(input as JobInput));
      await app().start({ jobs: [noop], concurrency: slots });
    },
    // One Workron is started once; the next has connections and a lease keeper of its own.
    async rest() {
      await app().stop();
      await connect();
    },
    async [Symbol.asyncDispose]() {
      await workron?.stop();
    },
  };
}
