/** A bare loop around Node's `spawn` with pipes, without storage or supervision. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Contender, OpenContender } from '../contender.ts';

export const open: OpenContender = async (): Promise<Contender> => {
  let waiting = 0;
  let running = 0;
  let slots = 0;
  let ended = Promise.withResolvers<void>();
  const runOne = async () => {
    const child = spawn('sh', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
    running -= 1;
    fill();
    if (waiting + running === 0) ended.resolve();
  };
  const fill = () => {
    while (waiting > 0 && running < slots) {
      waiting -= 1;
      running += 1;
      void runOne();
    }
  };
  const submitMany = async (inputs: readonly unknown[]) => {
    waiting += inputs.length;
    ended = Promise.withResolvers();
    fill();
    await ended.promise;
  };
  return {
    prepare: async () => undefined,
    connect: async () => undefined,
    submit: (input) => submitMany([input]),
    // There is no store that shows when all have ended.
    submitMany,
    async work(wanted) {
      slots = wanted;
      fill();
    },
    rest: async () => undefined,
    async [Symbol.asyncDispose]() {},
  };
};
