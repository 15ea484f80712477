/** Starts and controls the process of a contender. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Order } from './child.ts';
import type { ContenderName } from './contender.ts';
import { SETTINGS, type Settings } from './settings.ts';

export interface RaceProcess extends AsyncDisposable {
  pid: number;
  ask<T>(order: Order): Promise<T>;
}

/** `settings` go before the contender's own. */
export function startProcess(name: ContenderName, url: string, settings: Settings = {}): RaceProcess {
  const file = join(import.meta.dirname, 'child.ts');
  const args = [
    '--disable-warning=DeprecationWarning',
    file,
    name,
    url,
    JSON.stringify({ ...SETTINGS[name], ...settings }),
  ];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'ignore', 'inherit', 'pipe'] });
  const lines = createInterface({ input: child.stdio[3] as Readable })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    async ask<T>(order: Order): Promise<T> {
      child.stdin?.write(`${JSON.stringify(order)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`${name} ended during ${order.do}`);
      const said = JSON.parse(value) as { answer: T; error?: string };
      if (said.error !== undefined) throw new Error(`${name}, ${order.do}: ${said.error}`);
      return said.answer;
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      const killed = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await exited;
      clearTimeout(killed);
    },
  };
}
