/** Divides the test files into processes: small files share one, since loading the sources takes longer than most of them run. */

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, matchesGlob, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeOnExit } from './end-on-exit.ts';

const tests = dirname(import.meta.dirname);
/** Seconds that each file took when it ran in a process of its own, as `node test/run.ts --record` wrote them. */
const RECORDED = join(tests, 'durations.json');
/** Seconds after which a process takes no more files. */
const SHARD_SECONDS = 40;
/** What a file that may share a process is expected to take before it was recorded. */
const UNKNOWN_SECONDS = 2;

/** Files that may share a process. None of them tests its own process (its memory, its environment, its end) or sets what all share. */
const SHARED = [
  'api/*',
  'architecture',
  'bench/{race,soak}',
  'cli/!(completion|when)',
  'core/*',
  'deploy/*',
  'docs/!(blocks|typescript)',
  'http/*',
  'library/!(blocked-loop|completions|exit|health|isolated|meters|middleware|settings)',
  'mutants/mutants',
  'node/*',
  'ops/!(clock|private-socket)',
  'process/!(gone-worker|leftovers|own-token|poison|postgres|run-as)',
  'scheduler/*',
  'store/!(model|parkings|recorded)',
  'store/memory/contract',
  'store/postgres/!(contract|dependencies|lanes|restart)',
  'store/sqlite/*',
  'ui/*',
  'worker/!(command|drain|launcher-run|launcher-stop|neighbours|other-users|process|run-as)',
  'worker/source/*',
];

/** Makes the process fail if a file ends it early, since that would also skip the tests of the other files. */
const FAIL_ON_EARLY_EXIT = `
import { after } from 'node:test';
let ended = false;
after(() => (ended = true));
process.once('exit', () => { if (!ended) process.exitCode = 1; });
`;

interface Shard {
  files: string[];
  seconds: number;
}

/** One file for each process, the longest first, so that none of them runs alone at the end. */
export function shardFiles(files: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'workron-test-shards-'));
  removeOnExit(folder);
  const recorded = recordedSeconds();
  const shards: Shard[] = [];
  let open: Shard | undefined;
  for (const file of files) {
    const name = nameOf(file);
    if (!SHARED.some((glob) => matchesGlob(name, glob))) {
      shards.push({ files: [file], seconds: recorded[name] ?? Infinity });
      continue;
    }
    const seconds = recorded[name] ?? UNKNOWN_SECONDS;
    if (open === undefined || open.seconds + seconds > SHARD_SECONDS) shards.push((open = { files: [], seconds: 0 }));
    open.files.push(file);
    open.seconds += seconds;
  }
  return shards.sort((a, b) => b.seconds - a.seconds).map((shard, index) => entryOf(shard, folder, index));
}

/** The only file of a shard, or a new one that imports them all. */
function entryOf({ files }: Shard, folder: string, index: number): string {
  if (files.length === 1) return files[0] as string;
  const path = join(folder, `shard-${index}.test.mjs`);
  const imports = files.map((file) => `import '${pathToFileURL(file).href}';\n`);
  writeFileSync(path, `${imports.join('')}${FAIL_ON_EARLY_EXIT}`);
  return path;
}

/** Keeps what is recorded of other files, while they exist. */
export function recordDurations(seconds: ReadonlyMap<string, number>): void {
  const known = Object.entries(recordedSeconds()).filter(([name]) => existsSync(join(tests, `${name}.test.ts`)));
  const measured = [...seconds].map(([file, taken]) => [nameOf(file), Math.round(taken * 10) / 10] as const);
  const all = Object.entries(Object.fromEntries([...known, ...measured])).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(RECORDED, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
}

function recordedSeconds(): Record<string, number> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, number>;
}

function nameOf(file: string): string {
  return relative(tests, file).replace(/\.test\.ts$/, '');
}
