/** A worker that dies or freezes: its commands are gone before anybody else may start them again. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../src/ops/log.ts';
import { sweepOrphans } from '../../src/worker/launcher/sweep.ts';
import { MODES } from '../kit/launcher.ts';
import { loadFactor } from '../kit/load-factor.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';

const LONE_WORKER = join(import.meta.dirname, '..', 'kit', 'lone-worker.ts');

/** `inherited`: more that the worker is started with, as by a careless parent, under the number 40. */
function startWorker(
  command: string,
  leaseMs: number,
  mode: string,
  inherited: number[] = [],
): ChildProcess & AsyncDisposable {
  const stdio: ('inherit' | 'ignore' | number)[] = [
    'inherit',
    'inherit',
    'inherit',
    ...Array.from({ length: 37 }, () => 'ignore' as const),
    ...inherited,
  ];
  const child = spawn(process.execPath, [LONE_WORKER, command, String(leaseMs), mode], { stdio });
  const exited = once(child, 'exit');
  return Object.assign(child, {
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  });
}

describe('processes', { concurrency: 3 }, () => {
  for (const mode of MODES) {
    const promise = (name: string) => `worker process (namespace ${mode}): ${name}`;

    test(promise('the commands of a killed worker are asked to end, then gone'), async () => {
      const line = longSleep();
      await using worker = startWorker(`trap 'exit' TERM; setsid ${line} & ${line} & wait`, 600_000, mode);
      await untilAlive(line, 2);
      worker.kill('SIGKILL');
      await untilAlive(line, 0);
    });

    test(promise('the commands of a frozen worker are gone before its lease ends'), async () => {
      const line = longSleep();
      const leaseMs = Math.round(6_000 * loadFactor());
      await using worker = startWorker(`trap '' TERM; setsid ${line} & ${line}; ${line}; ${line}`, leaseMs, mode);
      await untilAlive(line, 2);
      const frozenAt = performance.now();
      worker.kill('SIGSTOP');
      await untilAlive(line, 0);
      assert.ok(performance.now() - frozenAt < leaseMs);
      worker.kill('SIGCONT');
    });

    test(promise('a sweep ends what a dead worker and its launcher left, and their folders'), async () => {
      const line = longSleep();
      await using worker = startWorker(`trap '' TERM; setsid ${line} & while :; do ${line}; done`, 600_000, mode);
      await untilAlive(line, 2);
      worker.kill('SIGKILL');
      await once(worker, 'exit');
      // Its launcher would give them a minute.
      await sweepOrphans(silentLog, null);
      assert.deepEqual(pidsOf(line), []);
      assert.deepEqual(globSync(`workron-*.${worker.pid}.*`, { cwd: tmpdir() }), []);
    });
  }

  test('worker process: what the worker was started with does not reach its commands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inherited-'));
    const secret = openSync(import.meta.filename, 'r');
    try {
      const list = join(folder, 'list');
      const command = `ls -l /proc/self/fd > ${list}.new; mv ${list}.new ${list}; ${longSleep()}`;
      await using _ = startWorker(command, 600_000, 'auto', [secret]);
      while (!existsSync(list)) await sleep(10);
      const files = readFileSync(list, 'utf8').matchAll(/ (\d+) -> (.*)$/gm);
      const foreign = [...files].filter(
        ([, , file]) => !/\/dev\/null|pipe-\d+|\/list\.new|\/proc\//.test(file as string),
      );
      assert.deepEqual(foreign, []);
    } finally {
      closeSync(secret);
      rmSync(folder, { recursive: true });
    }
  });
});
