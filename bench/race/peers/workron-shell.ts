/** Workron's shell jobs: `true` with captured output, through the launcher of workers. */

import type { Workron } from '../../../src/index.ts';
import type { Contender, OpenContender } from '../contender.ts';
import { built } from './built.ts';

const { open: openWorkron } = await built();

export const open: OpenContender = async ({ url }): Promise<Contender> => {
  let workron: Workron | undefined;
  const connect = async () => {
    workron = await openWorkron(url, { log: 'silent' });
  };
  const submit = async () => {
    await workron?.submitCommand('true');
  };
  return {
    connect,
    prepare: connect,
    submit,
    async submitMany(inputs) {
      await Promise.all(inputs.map(submit));
    },
    async work(slots) {
      await workron?.start({ commands: true, concurrency: slots });
    },
    async rest() {
      await workron?.stop();
      await connect();
    },
    async [Symbol.asyncDispose]() {
      await workron?.stop();
    },
  };
};
