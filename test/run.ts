/**
 * Runs the checks (types, lint, format) and every test file beside each other, all on one PostgreSQL.
 *
 *   node test/run.ts [--quick | --full] [--record] [part of a file's path …]
 *
 * `--quick` runs the checks and what needs no database, browser or other process. `--full` uses the large counts of effort.ts. With
 * arguments, only the test files whose path contains one of them run, without the checks. `--record` writes how long each file took to
 * durations.json, by which later runs are divided.
 */

import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { check } from './kit/checks.ts';
import { runFiles } from './kit/run-files.ts';
import { recordDurations, shardFiles } from './kit/shards.ts';

const root = dirname(import.meta.dirname);
const QUICK = ['test/api/', 'test/architecture', 'test/budgets', 'test/core/', 'test/store/memory/contract'];

const { values: mode, positionals: wanted } = parseArgs({
  options: { quick: { type: 'boolean' }, full: { type: 'boolean' }, record: { type: 'boolean' } },
  allowPositionals: true,
});
const { quick = false, full = false, record = false } = mode;
if (full) process.env['WORKRON_TEST_EFFORT'] = 'full';
// Hundreds of processes load the same sources: share the compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'compile');
// Compiler and linter run for seconds only; garbage collection would be a quarter of their time.
process.env['GOGC'] ??= 'off';
process.env['GOMEMLIMIT'] ??= '2GiB';
process.env['PATH'] = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

const checked = wanted.length === 0 ? check(root, stop.signal) : undefined;
const ran = await test().catch((error: unknown) => {
  console.error(error);
  return undefined;
});
const wrong = await checked;
if (wrong !== undefined) console.error(`\n${wrong}\nThe checks failed (npm run check).`);
const totals = ['tests', 'passed', 'failed', 'cancelled', 'skipped', 'todo'].map(
  (name) => `${name} ${ran?.counts[name] ?? 0}`,
);
// Last, below the list of failures.
console.log(`\n${totals.join(', ')}`);
const succeeded = ran?.succeeded === true && (ran.counts['tests'] ?? 0) > 0;
process.exitCode = succeeded && wrong === undefined && !stop.signal.aborted ? 0 : 1;

async function test(): Promise<Awaited<ReturnType<typeof runFiles>> | undefined> {
  const files = testFiles();
  if (files.length === 0) {
    console.error(`No test file has ${wanted.join(' or ')} in its name.`);
    return undefined;
  }
  await using stack = new AsyncDisposableStack();
  if (!quick) await prepare(stack);
  // With large counts memory matters and files take minutes: one process per file.
  const units = full || record || wanted.length > 0 ? files : shardFiles(files);
  // Many tests wait for other processes, so a few more files than processors run at once.
  const result = await runFiles(units, { cwd: root, concurrency: availableParallelism() + 3, signal: stop.signal });
  if (record) recordDurations(result.seconds);
  return result;
}

/** Makes what the tests share: the page, a PostgreSQL and, for all of them, the program. */
async function prepare(stack: AsyncDisposableStack): Promise<void> {
  const { buildPage } = await import('./kit/page-build.ts');
  const { makePostgresData, startPostgres } = await import('./kit/postgres-server.ts');
  buildPage();
  process.env['WORKRON_TEST_PG_DATA'] = stack.use(await makePostgresData()).path;
  process.env['WORKRON_TEST_PG_URL'] ??= stack.use(await startPostgres()).url;
  if (wanted.length > 0) return;
  const { buildProgram } = await import('./kit/program.ts');
  process.env['WORKRON_TEST_PROGRAM'] = await buildProgram();
}

function testFiles(): string[] {
  const parts = quick ? QUICK : wanted;
  return globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules'] })
    .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
    .sort()
    .map((file) => join(root, file));
}
