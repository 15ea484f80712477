/** A bare loop around Node's `spawn` with pipes, without storage or supervision. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Contender, OpenContender } from '../contender.ts';

export const open: OpenContender = async (): Promise<Contender> => {
  let waiting = 0;
  let running = 0;
  let slots = 0;
  const runOne = async () => {
    const child = spawn('sh', ['-c', 'true'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    await once(child, 'close');
    running -= 1;
    fill();
  };
  const fill = () => {
    while (waiting > 0 && running < slots) {
      waiting -= 1;
      running += 1;
      void runOne();
    }
  };
  const submitMany = async (count: number) => {
    waiting += count;
    fill();
  };
  return {
    prepare: async () => undefined,
    connect: async () => undefined,
    submit: () => submitMany(1),
    submitMany,
    async work(wanted) {
      slots = wanted;
      fill();
    },
    isDrained: async () => waiting + running === 0,
    async [Symbol.asyncDispose]() {},
  };
};
