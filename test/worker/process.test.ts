/** A worker that dies or freezes: its commands are gone before anybody else may start them again. */

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { closeSync, existsSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { silentLog } from '../../src/ops/log.ts';
import { listPids, readStat } from '../../src/worker/launcher/process-table.ts';
import { sweepOrphans } from '../../src/worker/launcher/sweep.ts';
import { effort } from '../effort.ts';
import { MODES } from '../kit/launcher.ts';
import { loadFactor } from '../kit/load-factor.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';
import { isAlive } from '../kit/workron-process.ts';

const LONE_WORKER = join(import.meta.dirname, '..', 'kit', 'lone-worker.ts');

interface WorkerOptions {
  /** More that the worker is started with, as by a careless parent, under the number 40. */
  inherited?: number[];
  /** Where its launcher reports that it has ended. */
  gone?: string;
}

function startWorker(
  command: string,
  leaseMs: number,
  mode: string,
  { inherited = [], gone }: WorkerOptions = {},
): ChildProcess & AsyncDisposable {
  const stdio: ('inherit' | 'ignore' | number)[] = [
    'inherit',
    'inherit',
    'inherit',
    ...Array.from({ length: 37 }, () => 'ignore' as const),
    ...inherited,
  ];
  const args = [LONE_WORKER, command, String(leaseMs), mode, ...(gone === undefined ? [] : [gone])];
  const child = spawn(process.execPath, args, { stdio });
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

    test(promise('a sweep spares the launcher of a dead worker that has nothing left but to report it'), {
      timeout: effort.waitMs,
    }, async () => {
      let isSwept = false;
      const reported = new EventEmitter();
      await using server = createServer((_, response) => {
        response.writeHead(isSwept ? 200 : 503).end();
        reported.emit(isSwept ? 'answered' : 'refused');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const gone = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const line = longSleep();
      await using worker = startWorker(`setsid ${line} & ${line}`, 600_000, mode, { gone });
      await untilAlive(line, 2);
      const launchers = listPids().filter((pid) => readStat(pid)?.parent === worker.pid);
      const refused = once(reported, 'refused');
      worker.kill('SIGKILL');
      await refused;
      assert.deepEqual(pidsOf(line), []);
      await sweepOrphans(silentLog, null);
      assert.deepEqual([launchers.length, await isAlive(launchers[0] as number)], [1, true]);
      const answered = once(reported, 'answered');
      isSwept = true;
      await answered;
    });
  }

  test('worker process: what the worker was started with does not reach its commands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inherited-'));
    const secret = openSync(import.meta.filename, 'r');
    try {
      const list = join(folder, 'list');
      const command = `ls -l /proc/self/fd > ${list}.new; mv ${list}.new ${list}; ${longSleep()}`;
      await using _ = startWorker(command, 600_000, 'auto', { inherited: [secret] });
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
