/**
 * What `npm test` runs: type check and lint, then every test file, all on one PostgreSQL.
 *
 *   node test/run.ts [--full] [part of a file's path …]
 *
 * `--full` runs the large counts of effort.ts. With names, only the test files that contain one of them are run, and
 * the checks are left out.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { buildPage } from './kit/page-build.ts';
import { startPostgres } from './kit/postgres-server.ts';
import { together } from './kit/together.ts';

const root = dirname(import.meta.dirname);
/** Those that take longest or wait most: begun last, they would be waited for alone. */
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
// Hundreds of processes load the same sources.
process.env['NODE_COMPILE_CACHE'] ??= join(root, 'node_modules', '.cache', 'compile');
// Compiler and linter live for seconds: collecting garbage is a quarter of their time.
process.env['GOGC'] ??= 'off';
process.env['GOMEMLIMIT'] ??= '2GiB';
process.env['PATH'] = [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter);

if (wanted.length === 0) await check();
process.exitCode = await test();

/** The `check` script of package.json, its parts side by side; ends the process where one fails. */
async function check(): Promise<void> {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const codes = await Promise.all((scripts['check'] ?? 'false').split(' && ').map(checkPart));
  if (codes.every((code) => code === 0)) return;
  console.error('\nThe checks failed (npm run check); no test was run.');
  process.exit(1);
}

/** What it prints is told when it has ended, so that it is not mixed with what others print. */
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
  const given = process.env['WORKRON_TEST_PG_URL'];
  await using server = given === undefined ? await startPostgres() : undefined;
  process.env['WORKRON_TEST_PG_URL'] = given ?? server?.url;
  // Large counts are about memory too, and take minutes: a process for each.
  return await runFiles(full || wanted.length > 0 ? files : together(files));
}

function testFiles(): string[] {
  return globSync('test/**/*.test.ts', { cwd: root })
    .filter((file) => wanted.length === 0 || wanted.some((name) => file.includes(name)))
    .sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1))
    .map((file) => join(root, file));
}

function placeOf(file: string): number {
  const place = FIRST.findIndex((name) => file === join('test', `${name}.test.ts`));
  return place === -1 ? FIRST.length : place;
}

/** Answers with the exit code. The counts are the last thing printed, below the list of failures. */
async function runFiles(files: string[]): Promise<number> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

  // Many tests wait for other processes, so there may be some more files at work than processors.
  const stream = run({ files, cwd: root, concurrency: availableParallelism() + 2, signal: stop.signal });
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
  const told = ['tests', 'passed', 'failed', 'cancelled', 'skipped', 'todo'].map((name) => `${name} ${counts?.[name]}`);
  console.log(`\n${told.join(', ')}`);
  return passed && counts !== undefined && !stop.signal.aborted ? 0 : 1;
}
