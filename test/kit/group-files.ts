/** Groups test files that share a process: loading the sources takes longer than most of them run. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { removeOnExit } from './end-on-exit.ts';

const tests = dirname(import.meta.dirname);

/** Grouped by the sources they load. None of them tests its own process: its memory, its environment, its end. */
const GROUPS: Record<string, string[]> = {
  plain: [
    'api/*',
    'architecture',
    'core/!(schedule-reference)',
    'docs/{configuration,operations,schedule-docs}',
    'mutants/mutants',
    'ops/settings-load',
    'scheduler/!(schedule-flood)',
    'store/{heap,migrations,spec}',
    'store/memory/contract',
    'cli/{step-tree,workflow-drawing}',
    'worker/{handler,notify-webhook}',
    'worker/source/source-local',
  ],
  'http-a-to-i': ['http/[a-i]*'],
  'http-j-to-r': ['http/[j-r]*'],
  'http-s-to-z': ['http/[s-z]*'],
  library: [
    'library/{http-submits,library-http,library-memory,library-sqlite}',
    'library/{middleware,notify,test-kit,transaction-sqlite}',
  ],
  'library-postgres': ['library/{library-postgres,transaction-postgres}', 'worker/source/source-direct'],
  postgres: ['store/postgres/{insert-and-claim,leadership,locking,migrate,pool,schedules}', 'scheduler/schedule-flood'],
  sqlite: ['store/sqlite/{claim,contract,migrate,schedules,threads}'],
};

/** Makes the process fail if a file ends it early, since that would also skip the tests of the other files. */
const FAIL_ON_EARLY_EXIT = `
import { after } from 'node:test';
let ended = false;
after(() => (ended = true));
process.once('exit', () => { if (!ended) process.exitCode = 1; });
`;

/** Replaces the first file of each group by a file that imports the whole group, and drops the others. */
export function groupFiles(files: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'workron-test-groups-'));
  removeOnExit(folder);
  const groups = Map.groupBy(files, (file) => groupOf(file) ?? file);
  return [...groups].map(([name, members]) => (members.length === 1 ? (members[0] as string) : write(name, members)));

  function write(name: string, members: readonly string[]): string {
    const path = join(folder, `${basename(name)}.test.mjs`);
    const imports = members.map((file) => `import '${pathToFileURL(file).href}';\n`);
    writeFileSync(path, `${imports.join('')}${FAIL_ON_EARLY_EXIT}`);
    return path;
  }
}

function groupOf(file: string): string | undefined {
  const name = relative(tests, file).replace(/\.test\.ts$/, '');
  const found = Object.entries(GROUPS).find(([, globs]) => globs.some((glob) => matchesGlob(name, glob)));
  return found?.[0];
}
