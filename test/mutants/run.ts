/**
 * Plants one fault at a time in a copy of the tree and expects a test to fail. A mutant that survives is a promise that
 * no test checks. The test that fails is named, so that one that fails for another reason is noticed.
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

/** The first of the mutant's tests that fails on it; `undefined` if it survives. A test that hangs counts as failed. */
async function killerOf(mutant: Mutant, pgUrl: string): Promise<string | undefined> {
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
    let killer: string | undefined;
    const fail = (test: string) => {
      killer ??= test;
      process.kill(-(child.pid as number), 'SIGKILL');
    };
    const hangs = setTimeout(fail, KILL_AFTER_MS, 'a test that does not end');
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      const [, test] = /^\s*not ok \d+ - (.+)\n/m.exec(output) ?? [];
      if (test !== undefined && killer === undefined) fail(test);
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    clearTimeout(hangs);
    return killer ?? (code === 0 ? undefined : `exit code ${code}`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
const chosen = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
await using postgres = await startPostgres();
// A test that fails without any fault would seem to kill every mutant.
const sound: Mutant = { name: 'none', edits: [], tests: [...new Set(chosen.flatMap(({ tests }) => tests))] };
const faulty = await killerOf(sound, postgres.url);
if (faulty !== undefined) throw new Error(`a test fails without any fault: ${faulty}`);
const queue = [...chosen];
let passed = 0;
const work = async () => {
  for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
    try {
      const killer = await killerOf(mutant, postgres.url);
      if (killer !== undefined) passed += 1;
      console.log(killer === undefined ? `SURVIVED  ${mutant.name}` : `killed    ${mutant.name}  (${killer})`);
    } catch (error) {
      console.log(`UNPLANTED ${mutant.name}: ${(error as Error).message}`);
    }
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(`${passed} passed, ${chosen.length - passed} failed`);
process.exitCode = passed === chosen.length ? 0 : 1;
