/** Workron's shell jobs: `true` with captured output, through the launcher of workers. */

import type { Workron } from '../../../src/index.ts';
import type { Contender, OpenContender } from '../contender.ts';
import { built } from './built.ts';
import { dropSchema } from './drop-schema.ts';
import { open as openHandlers } from './workron.ts';

const { open: openWorkron } = await built();

export const open: OpenContender = async ({ url }): Promise<Contender> => {
  const handlers = await openHandlers({ url });
  let workron: Workron | undefined;
  const connect = async () => {
    workron = await openWorkron(url, { log: 'silent' });
  };
  const submit = async () => {
    await workron?.submitCommand('true');
  };
  return {
    connect,
    async prepare() {
      await dropSchema(url, 'workron');
      await connect();
    },
    submit,
    async submitMany(count) {
      await Promise.all(Array.from({ length: count }, submit));
    },
    async work(slots) {
      await workron?.start({ commands: true, concurrency: slots });
    },
    isDrained: () => handlers.isDrained(),
    async [Symbol.asyncDispose]() {
      await workron?.stop();
      await handlers[Symbol.asyncDispose]();
    },
  };
};
