/** Whatever a command does to get away, nothing of it is left. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { silentLog } from '../../src/ops/log.ts';
import { canGroup, enterControlGroup, makeControlGroup, membersOf } from '../../src/worker/launcher/cgroup.ts';
import { identityOf } from '../../src/worker/launcher/process-table.ts';
import { sweepOrphans } from '../../src/worker/launcher/sweep.ts';
import { MODES, TestLauncher } from '../kit/launcher.ts';
import { longSleep, pidsOf, untilAlive } from '../kit/processes.ts';

/** Ways to leave a process group, a session, a parent. */
const ESCAPES = [
  (line: string) => `setsid ${line} & wait`,
  (line: string) => `(setsid sh -c '${line}' &); sleep 1000`,
  (line: string) => `(setsid ${line} >/dev/null 2>&1 </dev/null &) & (${line} &); sleep 1000`,
  (line: string) => `trap '' TERM; ${line}; ${line}; ${line}`,
  (line: string) => `setsid sh -c "trap '' TERM; ${line}; true" & wait`,
];

describe('launcher', { concurrency: 2 }, () => {
  for (const mode of MODES) {
    const promise = (name: string) => `launcher (namespace ${mode}): ${name}`;

    test(promise('stop ends children, setsid children and double forks'), async () => {
      await using commands = await TestLauncher.open(mode);
      for (const escape of ESCAPES) {
        const line = longSleep();
        const command = escape(line);
        const ended = commands.run(command);
        await untilAlive(line, command.split(line).length - 1 === 2 ? 2 : 1);
        commands.stop(200);
        assert.equal((await ended).stopped, 'asked');
        assert.deepEqual(pidsOf(line), [], command);
      }
    });

    test(promise('what a command leaves behind when it ends by itself is ended too'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      const { exitCode, stopped, output } = await commands.run(
        `setsid ${line} & (${line} &); (setsid ${line} >/dev/null 2>&1 &); echo said`,
      );
      assert.deepEqual({ exitCode, stopped, output }, { exitCode: 0, stopped: null, output: 'said\n' });
      assert.deepEqual(pidsOf(line), []);
    });

    test(promise('a process without parent, session and environment of the command ends with it'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      const { exitCode } = await commands.run(
        `(env -i setsid ${line} >/dev/null 2>&1 </dev/null &); (env -i setsid sh -c '${line}; :' >/dev/null 2>&1 &); sleep 0.3`,
      );
      assert.equal(exitCode, 0);
      assert.deepEqual(pidsOf(line), []);
    });

    test(promise('SIGTERM is heard, and there is time to clean up'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      const ended = commands.run(`trap 'sleep 0.3; echo cleaned; exit 3' TERM; ${line} & wait`);
      await untilAlive(line, 1);
      commands.stop(60_000);
      const { exitCode, output, stopped } = await ended;
      assert.deepEqual({ exitCode, output, stopped }, { exitCode: 3, output: 'cleaned\n', stopped: 'asked' });
    });

    test(promise('each process gets SIGTERM once'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      // The shell in front dies at once; the one behind counts what it hears.
      const inner = `n=0; trap 'n=$((n+1))' TERM; ${line} & wait; sleep 0.3; echo heard $n`;
      const ended = commands.run(`sh -c "$INNER"; true`, { env: { INNER: inner } });
      await untilAlive(line, 1);
      commands.stop(60_000);
      assert.match((await ended).output, /^heard 1$/m);
    });

    test(promise('a stopped process is woken to hear SIGTERM'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      const ended = commands.run(`trap 'echo heard; exit' TERM; ${line} & kill -STOP $$; wait`);
      await untilAlive(line, 1);
      commands.stop(60_000);
      assert.equal((await ended).output, 'heard\n');
    });

    test(promise('commands are stopped when the deadline passes, those that may finish are not'), async () => {
      await using commands = await TestLauncher.open(mode);
      const [line, finishing] = [longSleep(), longSleep()];
      const finisher = commands.run(finishing, { finish: true });
      const stopped = commands.run(`trap '' TERM; ${line}; ${line}; ${line}`, { graceMs: 60_000 });
      await untilAlive(line, 1);
      await untilAlive(finishing, 1);
      commands.launcher.setDeadline({ stopInMs: 100, killInMs: 300 });
      assert.equal((await stopped).stopped, 'deadline');
      assert.deepEqual(pidsOf(line), []);
      assert.equal(pidsOf(finishing).length, 1);
      assert.equal((await commands.run('true')).stopped, 'deadline', 'nothing is started past the deadline');
      await commands.launcher[Symbol.asyncDispose]();
      assert.equal((await finisher).stopped, 'deadline');
      assert.deepEqual(pidsOf(finishing), []);
    });

    test(promise('a launcher that is killed takes its commands along, and the next one works'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      const ended = commands.run(`setsid ${line} & ${line}`);
      await untilAlive(line, 2);
      process.kill(commands.launcher.pid as number, 'SIGKILL');
      assert.equal((await ended).stopped, 'launcher');
      assert.deepEqual(pidsOf(line), []);
      assert.equal((await commands.run('echo again')).output, 'again\n');
    });

    test(promise('a sweep leaves the commands of a live worker alone'), async () => {
      await using commands = await TestLauncher.open(mode);
      const line = longSleep();
      const ended = commands.run(`setsid ${line} & ${line}`);
      await untilAlive(line, 2);
      await sweepOrphans(silentLog, null);
      assert.equal(pidsOf(line).length, 2);
      commands.stop(0);
      await ended;
    });
  }

  for (const starter of ['auto', 'node'] as const) {
    test(`launcher (control group, starter ${starter}): what shed all traces ends with its command or launcher`, async (t) => {
      if (!(await canGroup())) return t.skip('this machine allows no control group');
      await using commands = await TestLauncher.open('off', starter);
      const [line, killed] = [longSleep(), longSleep()];
      const traceless = (what: string) =>
        `(env -i setsid sh -c '(${what} &) & (${what} &)' >/dev/null 2>&1 </dev/null &)`;
      await commands.run(`${traceless(line)}; sleep 0.3`);
      assert.deepEqual(pidsOf(line), []);
      const ended = commands.run(`${traceless(killed)}; sleep 1000`);
      await untilAlive(killed, 2);
      process.kill(commands.launcher.pid as number, 'SIGKILL');
      assert.equal((await ended).stopped, 'launcher');
      assert.deepEqual(pidsOf(killed), []);
    });
  }

  test('launcher: a sweep ends the control group of a dead worker, and leaves that of a live one alone', async (t) => {
    if (!(await canGroup())) return t.skip('this machine allows no control group');
    const live = makeControlGroup() as string;
    const dead = join(dirname(live), `workron-${identityOf(1).replace(/\.\d+$/, '.1')}-${process.pid}`);
    // A group within, as a command may make one.
    const inner = join(dead, 'inner');
    const [left, kept] = [spawn('sleep', ['60']), spawn('sleep', ['60'])];
    const ended = once(left, 'exit');
    // A worker of another test that starts now sweeps the group too while it is empty.
    do mkdirSync(inner, { recursive: true });
    while (!enterControlGroup(inner, left.pid as number));
    enterControlGroup(live, kept.pid as number);
    await sweepOrphans(silentLog, null);
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    assert.ok(!existsSync(dead));
    assert.deepEqual(membersOf(live), [kept.pid]);
    kept.kill('SIGKILL');
    await once(kept, 'exit');
    rmdirSync(live);
  });

  test('launcher: in a namespace even a process without environment, session and parent is found', async (t) => {
    await using commands = await TestLauncher.open('auto');
    if (!commands.launcher.enclosed) return t.skip('this machine allows no PID namespace');
    const line = longSleep();
    const ended = commands.run(`(env -i setsid ${line} >/dev/null 2>&1 &); sleep 1000`);
    await untilAlive(line, 1);
    commands.stop(1_000);
    await ended;
    assert.deepEqual(pidsOf(line), []);
  });

  test('launcher: a stray of one command does not end another, and ends when it may', async (t) => {
    await using commands = await TestLauncher.open('auto');
    if (!commands.launcher.enclosed) return t.skip('this machine allows no PID namespace');
    const [line, other] = [longSleep(), longSleep()];
    const second = commands.run(`exec ${other}`);
    await untilAlive(other, 1);
    await commands.run(`(env -i setsid ${line} >/dev/null 2>&1 &); sleep 0.2`);
    assert.equal(pidsOf(other).length, 1);
    process.kill(pidsOf(other)[0] as number, 'SIGTERM');
    assert.equal((await second).signal, 'SIGTERM');
    assert.deepEqual(pidsOf(line), []);
  });
});
