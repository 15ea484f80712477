/** The short form of `npm run chaos`, with large counts only. */

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { effort } from '../effort.ts';
import { endOnExit } from '../kit/end-on-exit.ts';

const root = join(import.meta.dirname, '..', '..');

for (const store of ['postgres', 'sqlite']) {
  test(`chaos: on ${store}, nothing is lost and no attempts overlap`, { skip: !effort.full }, async () => {
    const args = ['test/chaos/run.ts', '--minutes', '2', '--store', store];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    endOnExit('process', child);
    const report = await text(child.stdout);
    assert.match(report, /acknowledged jobs: [1-9]\d*, lost: 0, unfinished: 0/, report);
    assert.match(report, /attempts: [1-9]\d*, overlapping: 0/, report);
    assert.match(report, /faults: [1-9]/, report);
    assert.match(report, /ticks: [1-9]\d*, without or with two verdicts: 0/, report);
  });
}

test('chaos: what it cannot do is refused, not run as something else', () => {
  for (const flags of [
    ['--store', 'sqllite'],
    ['--minutes', 'abc'],
    ['--minutes', '0'],
    ['--seed', 'x'],
    ['--only', 'typo'],
    ['--onyl', 'killed'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, ['test/chaos/run.ts', ...flags], {
      cwd: root,
      encoding: 'utf8',
      timeout: 30_000,
    });
    assert.equal(status, 2, `${flags.join(' ')}: ${stderr}`);
    assert.match(stderr, /^error: [^\n]*\n$/);
  }
});
