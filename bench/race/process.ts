/** Starts and controls the process of a contender. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Order } from './child.ts';
import type { ContenderName } from './contender.ts';

export interface RaceProcess extends AsyncDisposable {
  ask<T>(order: Order): Promise<T>;
}

export function startProcess(name: ContenderName, url: string): RaceProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), name, url], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  return {
    async ask<T>(order: Order): Promise<T> {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended during ${order.do}`);
      const said = JSON.parse(value) as { answer: T; error?: string };
      if (said.error !== undefined) throw new Error(`${name}, ${order.do}: ${said.error}`);
      return said.answer;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      const killed = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(killed);
    },
  };
}
