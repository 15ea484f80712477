/**
 * Runs the checks (types, lint, format) and then every test file, all on one PostgreSQL.
 *
 *   node test/run.ts [--full] [part of a file's path …]
 *
 * `--full` uses the large counts of effort.ts. With arguments, only the test files whose path contains one of them run,
 * without the checks.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { groupFiles } from './kit/group-files.ts';
import { buildPage } from './kit/page-build.ts';
import { makePostgresData, startPostgres } from './kit/postgres-server.ts';
import { buildProgram } from './kit/program.ts';

const root = dirname(import.meta.dirname);
/** The longest test files. They start first, so that none of them runs alone at the end. */
const FIRST = [
  'process/postgres',
  'store/postgres/contract',
  'library/fastify-shop',
  'store/postgres/dependencies',
  'ui/access',
  'docs/blocks',
  'package/package',
  'ui/jobs',
  'cli/jobs',
  'store/model',
  'store/dag-stores',
  'core/schedule-reference',
  'process/worker',
  'ui/schedules',
  'ui/workflows',
];
const wanted = process.argv.slice(2).filter((argument) => argument !== '--full');
const full = process.argv.includes('--full');
if (full) process.env['WORKRON_TEST_EFFORT'] = 'full';
// Hundreds of processes load the same sources: share the compiled code.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'compile');
// Compiler and linter run for seconds only; garbage collection would be a quarter of their time.
process.env['GOGC'] ??= 'off';
process.env['GOMEMLIMIT'] ??= '2GiB';
process.env['PATH'] = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);

if (wanted.length === 0) await check();
process.exitCode = await test();

/** Runs the parts of the `check` script of package.json at the same time. Exits if one fails. */
async function check(): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const codes = await Promise.all((scripts['check'] ?? 'false').split(' && ').map(checkPart));
  if (codes.every((code) => code === 0)) return;
  console.error('\nThe checks failed (npm run check); no test was run.');
  process.exit(1);
}

/** Runs one part and prints its output at its end, so that outputs are not mixed. */
async function checkPart(command: string): Promise<number | null> {
  const child = spawn('sh', ['-c', `${command} 2>&1`], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number | null]>;
  process.stdout.write(await text(child.stdout));
  return (await ended)[0];
}

async function test(): Promise<number> {
  buildPage();
  const files = testFiles();
  if (files.length === 0) {
    console.error(`No test file has ${wanted.join(' or ')} in its name.`);
    return 1;
  }
  await using data = await makePostgresData();
  process.env['WORKRON_TEST_PG_DATA'] = data.path;
  const given = process.env['WORKRON_TEST_PG_URL'];
  await using server = given === undefined ? await startPostgres() : undefined;
  process.env['WORKRON_TEST_PG_URL'] = given ?? server?.url;
  if (wanted.length === 0) process.env['WORKRON_TEST_PROGRAM'] = await buildProgram();
  // With large counts memory matters and files take minutes: one process per file.
  return await runFiles(full || wanted.length > 0 ? files : groupFiles(files));
}

function testFiles(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root, exclude: ['**/node_modules'] })
    .filter((file) => wanted.length === 0 || wanted.some((name) => file.includes(name)))
    .sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
    .map((file) => join(root, file));
}

function placeOf(file: string): number {
  const place = FIRST.findIndex((name) => file === join('test', `${name}.test.ts`));
  return place === -1 ? FIRST.length : place;
}

/** Returns the exit code. Prints the counts last, below the list of failures. */
async function runFiles(files: string[]): Promise<number> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

  // Many tests wait for other processes, so a few more files than processors run at once.
  const stream = run({ files, cwd: root, concurrency: availableParallelism() + 3, signal: stop.signal });
  let counts: Record<string, number> | undefined;
  let passed = true;
  stream.on('test:summary', (summary) => {
    if (summary.file !== undefined) return;
    counts = summary.counts;
    passed = summary.success;
  });
  const report = stream.compose(new spec());
  report.pipe(process.stdout, { end: false });
  await once(report, 'end');
  const totals = ['tests', 'passed', 'failed', 'cancelled', 'skipped', 'todo'].map(
    (name) => `${name} ${counts?.[name]}`,
  );
  console.log(`\n${totals.join(', ')}`);
  return passed && counts !== undefined && !stop.signal.aborted ? 0 : 1;
}
