/** The progress that a handler reports, as the command line shows it. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCall } from '../kit/command-line.ts';
import { eventually } from '../kit/eventually.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { CLONE } from '../kit/program.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const stack = new AsyncDisposableStack();
let server: WorkronProcess;
let folder: string;

before(async () => {
  folder = stack.use(await temporaryFolder()).path;
  const index = join(import.meta.dirname, '..', '..', 'src', 'index.ts');
  const handlers = join(folder, 'handlers.ts');
  await writeFile(
    handlers,
    `import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { job } from ${JSON.stringify(index)};
export const load = job('load', {
  async run(input: { file: string }, { progress }) {
    progress(0.4, 'step 4 of 10');
    while (!existsSync(input.file)) await sleep(50);
  },
});
`,
  );
  const args = [
    'up',
    '--port',
    '0',
    '--db-url',
    join(folder, 'jobs.db'),
    '--handlers',
    handlers,
    '--log-level',
    'warn',
  ];
  server = stack.use(await startWorkron({ args, command: CLONE }));
});
after(() => stack.disposeAsync());

function workron(...args: string[]) {
  return callHosted(args, { env: { WORKRON_URL: server.url } });
}

/** A command that goes on, and what it has printed so far. */
function follow(...args: string[]) {
  const child = startCall(args, { env: { WORKRON_URL: server.url } });
  const printed = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed.stderr += text));
  return { printed, code: once(child, 'exit').then(([code]) => code as number) };
}

test('progress: jobs, job and logs -f show it', async () => {
  const file = join(folder, 'end-1');
  const { id } = await api<{ id: string }>(server.url, '/jobs', { handler: 'load', input: { file } });
  await eventually(async () => (await workron('jobs')).stdout.includes('40% step 4 of 10'));
  assert.match((await workron('job', id)).stdout, /^progress +40% step 4 of 10$/m);
  const following = follow('logs', '-f', id);
  await eventually(() => following.printed.stderr.includes(`job ${id}: 40% step 4 of 10\n`));
  await writeFile(file, '');
  assert.equal(await following.code, 0);
});

test('progress: workflow run -f shows that of a step', async () => {
  const file = join(folder, 'end-2');
  const workflow = join(folder, 'workflow.yaml');
  await writeFile(workflow, `name: loads\nsteps:\n  load: {handler: load, input: {file: ${file}}}\n`);
  const following = follow('workflow', 'run', '-f', workflow);
  await eventually(() => /^load: running {2}.*40% step 4 of 10$/m.test(following.printed.stdout));
  await writeFile(file, '');
  assert.equal(await following.code, 0);
});
