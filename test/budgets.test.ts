/** Size budgets of the product's source. An exception is listed by name with its reason, and goes when it is not needed. */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { root, type ScannedExport, type SourceFile, scanSources } from './kit/source-scan.ts';

const MAX_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 60;

const SQL_TEXT = 'SQL statements: one template per statement, no control flow';

/** File → why it may have more than 300 lines. */
const LONG_FILES: Readonly<Record<string, string>> = {};

/** `file#function` → why it may have more than 60 lines. */
const LONG_FUNCTIONS: Readonly<Record<string, string>> = {
  'src/store/postgres/jobs/insert-rows.ts#newlyStored': 'one line for each field of a job',
  'src/store/postgres/sql/claim.ts#claimSql': SQL_TEXT,
  'src/store/postgres/sql/insert.ts#insertSql': SQL_TEXT,
  'src/store/postgres/sql/meters.ts#metersSql': SQL_TEXT,
};

/** `file#name` → why it is exported although only tests import it. */
const EXPORTED_FOR_TESTS: Readonly<Record<string, string>> = {
  'src/api/claim.ts#ClaimedJob': 'the schema of one claimed job is tested on its own',
  'src/api/problem.ts#ERROR_TITLES': 'every title is compared with the problem document of its code',
  'src/cli/output/terminal-log.ts#terminalLog': 'its lines are tested with a fixed clock and stream',
  'src/core/dag/group.ts#MAX_ITEMS': 'a limit whose edge is tested',
  'src/core/transition.ts#FREE_INTERRUPTIONS': 'a limit whose edge is tested',
  'src/worker/launcher/launchers.ts#Launchers': 'launchers are tested without a worker',
};

interface Weight {
  files: number;
  lines: number;
  /** From where it was raised, each time, and why. */
  why: string;
}

/**
 * The size of each folder, with SQL, and of all. A figure goes down with the code. It goes up only with a reason, added to `why`, that
 * a reader accepts: what users get for it, and why it could not replace something.
 */
const WEIGHTS: Readonly<Record<string, Weight>> = {
  'src/api': {
    files: 89,
    lines: 8_355,
    why: 'from 7,588 lines: hostile documents take bounded time; suspects; reasons to wait are data, and what is wrong has words for all; steps of functions on the wire',
  },
  'src/cli': {
    files: 69,
    lines: 8_451,
    why: 'from 8,512 lines: sockets, doctor --unmark, output that no terminal obeys; why queues and runs stand still; workron steps',
  },
  'src/core': {
    files: 93,
    lines: 6_873,
    why: 'from 6,403 lines: masking in one pass, bounded suggestions, suspects, the line of a failure; steps',
  },
  'src/http': {
    files: 62,
    lines: 5_323,
    why: 'from 5,161 lines: sessions end with their token, a policy on every answer; steps over HTTP',
  },
  'src/library': {
    files: 38,
    lines: 4_090,
    why: 'from 3,528 lines: output after complete(tx), inputs of steps are checked, spans are masked; durable functions: step and sleep',
  },
  'src/node': {
    files: 35,
    lines: 2_459,
    why: 'from 2,308 lines: a promoted file is marked; silent workers; files with earlier tables are exported or refused',
  },
  'src/ops': { files: 41, lines: 2_757, why: 'from 2,576 lines: sockets and their folders are checked' },
  'src/scheduler': {
    files: 67,
    lines: 6_511,
    why: 'from 6,075 lines: retention in parts that do not stop each other, healing; steps',
  },
  'src/store': { files: 232, lines: 20_998, why: 'steps and suspensions, one file over both databases' },
  'src/worker': {
    files: 79,
    lines: 7_448,
    why: 'from 6,395 lines: starters that became their user, a namespace for each command; steps are written before a function goes on',
  },
  src: { files: 809, lines: 73_331, why: '' },
  'ui/src': { files: 199, lines: 16_079, why: 'from 16,197 lines: expressions of the log view that take linear time' },
};

/** A folder that has become lighter by more than this gets a lower figure. */
const SLACK_LINES = 50;

/** Names that other packages import. */
const PUBLIC_ENTRIES = ['src/index.ts', 'src/client.ts', 'src/job.ts', 'src/testing.ts', 'contract/index.ts'];

let product: SourceFile[] = [];
let measured: SourceFile[] = [];

before(() => {
  product = scanSources(['src', 'ui/src', 'contract', 'bench']);
  measured = product.filter(({ path }) => path.startsWith('src/') || path.startsWith('ui/'));
});

test(`budgets: a file has at most ${MAX_FILE_LINES} lines`, () => {
  const long = measured.filter(({ lines }) => lines > MAX_FILE_LINES);
  expectOnly(
    LONG_FILES,
    long.map(({ path, lines }) => [path, `${lines} lines`]),
  );
});

test(`budgets: a function has at most ${MAX_FUNCTION_LINES} lines`, () => {
  const long = measured.flatMap(({ path, functions }) =>
    functions
      .filter(({ lines }) => lines > MAX_FUNCTION_LINES)
      .map(({ name, lines }): [string, string] => [`${path}#${name}`, `${lines} lines`]),
  );
  expectOnly(LONG_FUNCTIONS, long);
});

test('budgets: an exported name is not there for tests alone', () => {
  const byProduct = usersIn(product);
  const byTests = usersIn(scanSources(['test']));
  const forTests: [string, string][] = [];
  for (const file of measured.filter(({ path }) => !PUBLIC_ENTRIES.includes(path))) {
    for (const exported of file.exports) {
      if (byProduct(file.path, exported) !== undefined || isPartOfSignature(file.path, exported)) continue;
      const user = byTests(file.path, exported);
      if (user !== undefined) forTests.push([`${file.path}#${exported.name}`, `imported by ${user}`]);
    }
  }
  expectOnly(EXPORTED_FOR_TESTS, forTests);
});

for (const [folder, budget] of Object.entries(WEIGHTS)) {
  test(`budgets: ${folder} has at most ${budget.files} files and ${budget.lines} lines`, () => {
    const found = globSync(`${folder}/**/*`, { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = found.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
    const lines = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0);
    const measuredSize = `${folder} has ${found.length} files and ${lines} lines`;
    assert.ok(
      found.length <= budget.files && lines <= budget.lines,
      `${measuredSize}: make it lighter, or say why not`,
    );
    assert.ok(
      found.length === budget.files && lines > budget.lines - SLACK_LINES,
      `${measuredSize}: lower its figures`,
    );
  });
}

/** Fails with what is over budget and not listed, and with what is listed and no longer over budget. */
function expectOnly(exceptions: Readonly<Record<string, string>>, found: readonly (readonly [string, string])[]): void {
  const names = new Set(found.map(([name]) => name));
  const unlisted = found.filter(([name]) => !(name in exceptions)).map(([name, what]) => `${name}: ${what}`);
  const unneeded = Object.keys(exceptions).filter((name) => !names.has(name));
  assert.deepEqual({ unlisted, unneeded }, { unlisted: [], unneeded: [] });
}

/** Finds a file among `files` that imports an exported name. */
function usersIn(files: readonly SourceFile[]): (path: string, exported: ScannedExport) => string | undefined {
  const users = new Map<string, string>();
  for (const { path, uses } of files) {
    for (const { file, name = '*', typesOnly } of uses) users.set(`${file}#${typesOnly ? 'types' : name}`, path);
  }
  return (path, { name, isType }) =>
    users.get(`${path}#${name}`) ?? users.get(`${path}#*`) ?? (isType ? users.get(`${path}#types`) : undefined);
}

/** A type that its own file mentions again, as in the parameters of a function that the product calls. */
function isPartOfSignature(path: string, { name, isType }: ScannedExport): boolean {
  if (!isType) return false;
  return (readFileSync(join(root, path), 'utf8').match(new RegExp(`\\b${name}\\b`, 'g')) ?? []).length > 1;
}
