/** Shell jobs in a process of a gigabyte: a fork of the process itself would copy its page tables. */

import type { OpenContender } from '../contender.ts';
import { open as openShell } from './workron-shell.ts';

export const open: OpenContender = async (place) => {
  const ballast = Buffer.alloc(2 ** 30, 1);
  const shell = await openShell(place);
  return {
    ...shell,
    async [Symbol.asyncDispose]() {
      await shell[Symbol.asyncDispose]();
      ballast.fill(0, 0, 1);
    },
  };
};
