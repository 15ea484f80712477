/**
 * Plants one fault at a time in a copy of the tree and expects a test to turn red. A mutant that survives is a promise
 * that no test keeps. `npm run mutants [NAME…]`
 */

import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endsWithUs } from '../kit/ends-with-us.ts';
import { startPostgres } from '../kit/postgres-server.ts';
import { MUTANTS, type Mutant } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
/** The runner's own time-out does not end a loop that never yields. */
const HANGS_AFTER_MS = 20 * 60_000;

/** Throws where the text to change is gone: the fault can no longer be planted, and proves nothing. */
async function plant(mutant: Mutant, copy: string): Promise<void> {
  for (const part of ['src', 'contract', 'test', 'bin', 'docs', 'README.md', 'package.json', 'tsconfig.json']) {
    await cp(join(root, part), join(copy, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, from, to } of mutant.edits) {
    const path = join(copy, file);
    const text = await readFile(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`the text to change is not there exactly once in ${file}`);
    await writeFile(
      path,
      text.replace(from, () => to),
    );
  }
}

/** Whether the tests named by the mutant fail on it. The first failure is enough; a test that hangs has failed. */
async function isKilled(mutant: Mutant, pgUrl: string): Promise<boolean> {
  const copy = await mkdtemp(join(tmpdir(), 'workron-mutant-'));
  try {
    await plant(mutant, copy);
    const args = ['--test', '--test-timeout=60000', '--test-reporter=tap', ...mutant.tests];
    const child = spawn(process.execPath, args, {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: { ...process.env, WORKRON_TEST_PG_URL: pgUrl },
    });
    endsWithUs('group', child);
    let failed = false;
    const fail = () => {
      failed = true;
      process.kill(-(child.pid as number), 'SIGKILL');
    };
    const hangs = setTimeout(fail, HANGS_AFTER_MS);
    child.stdout.on('data', (data: Buffer) => {
      if (!failed && /^\s*not ok/m.test(data.toString())) fail();
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    clearTimeout(hangs);
    return failed || code !== 0;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
const chosen = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
await using postgres = await startPostgres();
// A test that is red without any fault would seem to kill every mutant.
const sound: Mutant = { name: 'none', edits: [], tests: [...new Set(chosen.flatMap(({ tests }) => tests))] };
if (await isKilled(sound, postgres.url)) throw new Error(`red without any fault: one of ${sound.tests.join(', ')}`);
let passed = 0;
for (const mutant of chosen) {
  try {
    const killed = await isKilled(mutant, postgres.url);
    if (killed) passed += 1;
    console.log(`${killed ? 'killed  ' : 'SURVIVED'}  ${mutant.name}`);
  } catch (error) {
    console.log(`UNPLANTED ${mutant.name}: ${(error as Error).message}`);
  }
}
console.log(`${passed} passed, ${chosen.length - passed} failed`);
process.exitCode = passed === chosen.length ? 0 : 1;
