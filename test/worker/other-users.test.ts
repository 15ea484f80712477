/** Other users of the machine can neither take over a worker's files nor have its processes end theirs. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '../../src/ops/log.ts';
import { identityOf, TREE_MARK } from '../../src/worker/launcher/process-table.ts';
import { sweepOrphans } from '../../src/worker/launcher/sweep.ts';
import { WorkFolder } from '../../src/worker/launcher/work-folder.ts';
import { TestLauncher } from '../kit/launcher.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';

const OTHER = 65_533;
const needsRoot = { skip: process.getuid?.() === 0 ? false : 'only root can act as another user' };

/** The identity of a process that has ended. */
async function deadIdentity(): Promise<string> {
  const child = spawn('sleep', ['1000']);
  await once(child, 'spawn');
  const identity = identityOf(child.pid as number);
  child.kill('SIGKILL');
  await once(child, 'exit');
  return identity;
}

async function startMarked(line: string, mark: string, uid?: number) {
  const child = spawn('sh', ['-c', `${line} & ${line}; :`], {
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], [TREE_MARK]: mark },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  await untilAlive(line, 2);
  return {
    [Symbol.asyncDispose]: async () => {
      for (const pid of pidsOf(line)) process.kill(pid, 'SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

test('other users: a sweep ignores the mark in a process of another user', needsRoot, async () => {
  const line = longSleep();
  await using _theirs = await startMarked(line, `${await deadIdentity()}.1`, OTHER);
  await sweepOrphans(silentLog, null);
  assert.equal(pidsOf(line).length, 2);
});

test('other users: a sweep ignores a mark whose owner started after the process', async () => {
  const line = longSleep();
  const [namespace, pid] = (await deadIdentity()).split('.');
  await using _ours = await startMarked(line, `${namespace}.${pid}.${Number.MAX_SAFE_INTEGER}.1`);
  await sweepOrphans(silentLog, null);
  assert.equal(pidsOf(line).length, 2);
});

test('other users: a folder that another user made in place of a removed one is not used', needsRoot, () => {
  using folder = new WorkFolder();
  const before = folder.path;
  assert.equal(folder.path, before);
  rmSync(before, { recursive: true });
  mkdirSync(before, { mode: 0o700 });
  chownSync(before, OTHER, OTHER);
  const after = folder.path;
  assert.notEqual(after, before);
  assert.equal(lstatSync(after).mode & 0o777, 0o700);
  rmSync(before, { recursive: true });
});

test('other users: a link in place of a removed folder is not followed, nor is what it names removed', () => {
  const folder = new WorkFolder();
  const before = folder.path;
  rmSync(before, { recursive: true });
  symlinkSync(tmpdir(), before);
  assert.notEqual(folder.path, before);
  folder[Symbol.dispose]();
  assert.ok(lstatSync(before).isSymbolicLink());
  rmSync(before);
});

test(
  'other users: a launcher does not write into pipes that another user made in place of its own',
  needsRoot,
  async () => {
    await using commands = await TestLauncher.open('off', 'auto');
    const pipe = 'readlink /proc/$$/fd/1';
    const folder = dirname((await commands.run(pipe)).output);
    assert.equal(dirname(folder), commands.folder);
    for (const path of readdirSync(folder).map((name) => join(folder, name))) chownSync(path, OTHER, OTHER);
    assert.notEqual(dirname((await commands.run(pipe)).output), folder);
  },
);
