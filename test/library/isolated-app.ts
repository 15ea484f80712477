/** A program in one module: it defines an isolated job, and opens a Workron when it is loaded. */

import { job, open } from '../../src/index.ts';

export const report = job('report', { isolate: true, maxAttempts: 3, run: () => 'a report' });

const workron = await open('memory:', { log: 'silent' });
await workron.start({ jobs: [report] });
const { status, reason, attempts, error } = await (await workron.submit(report)).ended();
process.stdout.write(JSON.stringify({ status, reason, attempts, error }));
await workron.stop();
