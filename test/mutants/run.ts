/**
 * Plants one fault at a time in a copy of the tree and expects a test to fail. A mutant that survives is a promise that
 * no test checks.
 *
 *   npm run mutants [-- PART_OF_A_NAME …]
 */

import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { endOnExit } from '../kit/end-on-exit.ts';
import { startPostgres } from '../kit/postgres-server.ts';
import { MUTANTS, type Mutant, plantIn } from './mutants.ts';

const root = join(import.meta.dirname, '..', '..');
/** The test runner's own timeout does not end a loop that never yields. */
const KILL_AFTER_MS = 20 * 60_000;
/** Mutants whose tests run at once, and test files that run at once for each. */
const AT_ONCE = availableParallelism();

/** Copies the tree to `copy` and plants the mutant's fault there. */
async function plant(mutant: Mutant, copy: string): Promise<void> {
  for (const part of ['src', 'contract', 'test', 'bin', 'docs', 'README.md', 'package.json', 'tsconfig.json']) {
    await cp(join(root, part), join(copy, part), { recursive: true });
  }
  await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const edit of mutant.edits) {
    const path = join(copy, edit.file);
    await writeFile(path, plantIn(await readFile(path, 'utf8'), edit));
  }
}

/** True if the mutant's tests fail on it. Stops at the first failure; a test that hangs counts as failed. */
async function isKilled(mutant: Mutant, pgUrl: string): Promise<boolean> {
  const copy = await mkdtemp(join(tmpdir(), 'workron-mutant-'));
  try {
    await plant(mutant, copy);
    const options = ['--test-timeout=60000', '--test-reporter=tap', `--test-concurrency=${AT_ONCE}`];
    const args = ['--test', ...options, ...mutant.tests];
    const child = spawn(process.execPath, args, {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
      env: { ...process.env, WORKRON_TEST_PG_URL: pgUrl },
    });
    endOnExit('group', child);
    let failed = false;
    const fail = () => {
      failed = true;
      process.kill(-(child.pid as number), 'SIGKILL');
    };
    const hangs = setTimeout(fail, KILL_AFTER_MS);
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
// A test that fails without any fault would seem to kill every mutant.
const sound: Mutant = { name: 'none', edits: [], tests: [...new Set(chosen.flatMap(({ tests }) => tests))] };
if (await isKilled(sound, postgres.url))
  throw new Error(`a test fails without any fault, one of ${sound.tests.join(', ')}`);
const queue = [...chosen];
let passed = 0;
const work = async () => {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    try {
      const killed = await isKilled(mutant, postgres.url);
      if (killed) passed += 1;
      console.log(`${killed ? 'killed  ' : 'SURVIVED'}  ${mutant.name}`);
    } catch (error) {
      console.log(`UNPLANTED ${mutant.name}: ${(error as Error).message}`);
    }
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(`${passed} passed, ${chosen.length - passed} failed`);
process.exitCode = passed === chosen.length ? 0 : 1;
