/** Plants each fault of teeth.ts in a copy of the tree and looks for a seed that finds it, and finds nothing without it. */

import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { plantIn } from '../mutants/mutants.ts';
import { TEETH, type Tooth } from './teeth.ts';

const root = join(import.meta.dirname, '..', '..');
const MAX_SEEDS = 10_000;
/** Copies that run at once. */
const AT_ONCE = 3;

/** Returns the exit code: 0 if every fault whose name contains one of `wanted` was found. */
export async function runTeeth(wanted: readonly string[]): Promise<number> {
  const chosen = TEETH.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)));
  if (chosen.length === 0) {
    console.error(`error: --teeth: no fault has a name that contains ${wanted.join(' or ')}`);
    return 2;
  }
  const queue = [...chosen];
  let found = 0;
  const work = async () => {
    for (let tooth = queue.shift(); tooth !== undefined; tooth = queue.shift()) {
      const { seed, rule } = await firstSeed(tooth);
      if (seed !== null) found += 1;
      console.log(
        `${seed === null ? 'NOT FOUND' : `seed ${seed}`.padEnd(9)}  ${tooth.name}${rule === undefined ? '' : `  (${rule})`}`,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  console.log(`${found} of ${chosen.length} planted faults found within ${MAX_SEEDS} seeds`);
  return found === chosen.length ? 0 : 1;
}

async function firstSeed(tooth: Tooth): Promise<Found> {
  const copy = await mkdtemp(join(tmpdir(), 'workron-tooth-'));
  try {
    for (const part of ['src', 'test/simulate', 'test/mutants', 'package.json']) {
      await cp(join(root, part), join(copy, part), { recursive: true });
    }
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const edit of tooth.edits) {
      const path = join(copy, edit.file);
      await writeFile(path, plantIn(await readFile(path, 'utf8'), edit));
    }
    for (let from = 1; from <= MAX_SEEDS; ) {
      const found = await firstOf(copy, from, MAX_SEEDS);
      if (found.seed === null) return found;
      // The fault is found only if the same seed passes without it.
      if ((await firstOf(root, found.seed, found.seed)).seed === null) return found;
      console.log(`seed ${found.seed} breaks a rule without a planted fault, too (${found.rule})`);
      from = found.seed + 1;
    }
    return { seed: null };
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

interface Found {
  seed: number | null;
  rule?: string;
}

async function firstOf(cwd: string, from: number, to: number): Promise<Found> {
  const args = ['test/simulate/run.ts', '--first', '--seeds', `${from}-${to}`];
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  return JSON.parse(await text(child.stdout)) as Found;
}
