/** A share of the seeds, and the promises of the simulation itself. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { effort } from '../effort.ts';
import { plantIn } from '../mutants/mutants.ts';
import { TEETH } from './teeth.ts';

const root = join(import.meta.dirname, '..', '..');
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, ['test/simulate/run.ts', ...args], { cwd: root, maxBuffer: 2 ** 28 });

test(`simulate: no rule is broken with seeds 1 to ${effort.simulatedSeeds}`, async () => {
  const { stdout } = await run('--seeds', `1-${effort.simulatedSeeds}`).catch((error: { stdout: string }) => error);
  assert.match(stdout, / 0 failed, /, stdout);
});

test('simulate: a seed has the same history, byte for byte, in two processes', async () => {
  for (const seed of ['1', '7']) {
    const [first, second] = await Promise.all([run('--seed', seed), run('--seed', seed)]);
    assert.ok(first.stdout.split('\n').length > 100, first.stdout);
    assert.equal(first.stdout, second.stdout);
  }
});

test('simulate: schedulers hear of the side effects of their own calls', async () => {
  const histories = await Promise.all(['12', '23', '30'].map((seed) => run('--seed', seed)));
  const heard = histories.flatMap(
    ({ stdout }) => stdout.match(/ scheduler-\d+\.\d+ +heard of side effects \{.*\}/g) ?? [],
  );
  assert.ok(heard.length > 0, 'no observer heard anything');
});

test('simulate: what it cannot do is refused, not run as nothing', async () => {
  for (const flags of [
    ['--minutes', 'abc'],
    ['--seeds', 'x'],
    ['--seeds', '9-1'],
    ['--seed', 'x'],
    ['--sedes', '1-2'],
    ['--teeth', 'no such fault'],
  ]) {
    const ended = await run(...flags).catch((error: { code: number; stderr: string }) => error);
    const { code, stderr } = { code: 0, ...ended };
    assert.equal(code, 2, `${flags.join(' ')}: ${stderr}`);
    assert.match(stderr, /^error: [^\n]*\n$/);
  }
});

test('simulate: every fault that it must find can be planted', () => {
  assert.equal(TEETH.length, 36);
  const problems: string[] = [];
  for (const { name, edits } of TEETH) {
    const texts = new Map<string, string>();
    for (const edit of edits) {
      try {
        texts.set(edit.file, plantIn(texts.get(edit.file) ?? readFileSync(join(root, edit.file), 'utf8'), edit));
      } catch (error) {
        problems.push(`${name}: ${(error as Error).message}`);
      }
    }
  }
  assert.deepEqual(problems, []);
});
