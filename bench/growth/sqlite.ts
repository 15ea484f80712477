/** The cost per job on SQLite, in a process whose statements are counted. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { endOnExit } from '../../test/kit/end-on-exit.ts';
import type { Section } from './section.ts';

export const sqlite: Section = {
  name: 'sqlite',
  title: 'Cost per job on SQLite',
  async run(grounds) {
    const [steps, file] = ['sqlite-steps.ts', 'sqlite-cost.ts'].map((name) => new URL(name, import.meta.url).href);
    const args = [
      '--import',
      steps as string,
      new URL(file as string).pathname,
      String(grounds.sized(1_000_000)),
      String(grounds.jobs),
    ];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    endOnExit('process', child);
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`sqlite-cost.ts ended with ${code}`);
  },
};
