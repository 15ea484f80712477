/** Handlers from a file, for processes of the command line. */

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { open } from '../../src/index.ts';
import type { Engine } from '../../src/library/engine.ts';
import { loadHandlers } from '../../src/library/load-handlers.ts';
import { CLONE } from '../kit/program.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const library = join(import.meta.dirname, '..', '..', 'src', 'index.ts');

const JOBS = `
  import { job } from '${library}';
  const child = job('child', { run: (n: number) => n * 2 });
  export const parent = job('parent', {
    async run(n: number, { submit, log }) {
      log('asking');
      return (await submit(child, n)).result();
    },
  });
  export default [child];
`;

test('handlers: `workron up --handlers` runs them beside commands, and they can submit', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'jobs.ts');
  await writeFile(file, JOBS);
  await using up = await startWorkron({
    args: ['up', '--port', '0', '--db-url', join(folder.path, 'w.db'), '--handlers', file],
    command: CLONE,
  });
  await using workron = await open(up.url, { log: 'silent' });
  const { job } = await import('../../src/index.ts');
  const handle = await workron.submit(job('parent'), 21);
  assert.equal(await handle.result(), 42);
  assert.equal((await (await workron.submitCommand('true')).ended()).status, 'done');
  up.signal('SIGTERM');
  assert.equal(await up.exited, 0);
});

test('handlers: a file without jobs, or that cannot be loaded, is refused with its name', async () => {
  await using folder = await temporaryFolder();
  const [empty, broken] = [join(folder.path, 'empty.ts'), join(folder.path, 'broken.ts')];
  await writeFile(empty, 'export const nothing = 1;');
  await writeFile(broken, 'export const x: = 1;');
  const load = (files: string[]) => loadHandlers(files, {} as Engine);
  await assert.rejects(load([empty]), /empty\.ts exports no job/);
  await assert.rejects(load([broken]), /Could not load .*broken\.ts/);
  await assert.rejects(load([join(folder.path, 'absent.ts')]), /Could not load .*absent\.ts/);
});
