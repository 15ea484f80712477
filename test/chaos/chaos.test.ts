/** The short form of `npm run chaos`, with large counts only. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
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
    assert.match(report, /ticks: [1-9]\d*, without or with two verdicts: 0/, report);
  });
}
