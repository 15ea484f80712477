/** A command that kills what it can reach ends its own attempt, and no other. */

import assert from 'node:assert/strict';
import { isBuiltin } from 'node:module';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExitMessage } from '../../src/worker/launcher/frames.ts';
import { Launchers } from '../../src/worker/launcher/launchers.ts';
import { canEnclose } from '../../src/worker/launcher/namespace.ts';
import { TestLauncher } from '../kit/launcher.ts';
import { childrenOf, launcherWithin, longSleep, pidsOf, untilAlive } from '../kit/processes.ts';

const hasCells = isBuiltin('node:ffi') && (await canEnclose());
const needsCells = { skip: hasCells ? false : 'commands have no PID namespace of their own here' };

/** Runs a hostile command beside another one, and returns how both end. */
async function runBeside(commands: TestLauncher, hostile: string) {
  const line = longSleep();
  const neighbour = commands.run(`timeout 1 ${line}; (exit 7)`);
  await untilAlive(line, 1);
  const own = await commands.run(hostile);
  return { own, neighbour: await neighbour };
}

for (const [name, hostile] of [
  ['kills its parent', 'kill -9 $PPID; sleep 60'],
  ['kills all processes that it may', 'sh -c "kill -9 -1"; exit 9'],
  ['kills the first process', 'kill -9 1; kill -TERM 1; kill -9 $$'],
  ['kills what it finds', 'kill -9 $(ls /proc | grep -x "[0-9]*")'],
] as const) {
  test(`neighbours: a command that ${name} ends no other command, and not the launcher`, needsCells, async () => {
    await using commands = await TestLauncher.open('auto');
    await commands.run('true');
    const launcher = launcherWithin(commands.launcher.pid as number);
    const { own, neighbour } = await runBeside(commands, hostile);
    assert.deepEqual([own.signal, own.stopped], ['SIGKILL', null]);
    assert.deepEqual([neighbour.exitCode, neighbour.stopped], [7, null]);
    assert.equal(launcherWithin(commands.launcher.pid as number), launcher);
  });
}

test('neighbours: a command sees its own processes only, under their own numbers', needsCells, async () => {
  await using commands = await TestLauncher.open('auto');
  const line = longSleep();
  const neighbour = commands.run(line);
  await untilAlive(line, 1);
  const { output } = await commands.run('read pid rest < /proc/$$/stat; set -- /proc/[0-9]*; [ $pid = $$ ] && echo $#');
  // The first process and the shell.
  assert.equal(output, '2\n');
  for (const pid of pidsOf(line)) process.kill(pid, 'SIGKILL');
  await neighbour;
});

test(
  'neighbours: what a command leaves in its namespace ends with it, and the next one is alone',
  needsCells,
  async () => {
    await using commands = await TestLauncher.open('auto');
    const line = longSleep();
    const beside = longSleep();
    const other = commands.run(`timeout 5 ${beside}`);
    await untilAlive(beside, 1);
    // Its parent has ended, and it has neither the session nor the environment of the command.
    await commands.run(`(env -i setsid ${line} &); sleep 0.1`);
    assert.deepEqual([pidsOf(line).length, pidsOf(beside).length > 0], [0, true]);
    // Its shell and the first process of its namespace.
    assert.equal((await commands.run('set -- /proc/[0-9]*; echo $#')).output, '2\n');
    await other;
  },
);

test('neighbours: a command starts although somebody has ended the empty namespaces', needsCells, async () => {
  await using commands = await TestLauncher.open('auto');
  await Promise.all([commands.run('true'), commands.run('true')]);
  const launcher = launcherWithin(commands.launcher.pid as number);
  for (const pid of childrenOf(launcher)) process.kill(pid, 'SIGKILL');
  while (childrenOf(launcher).length > 0) await sleep(5);
  assert.equal((await commands.run('echo here')).output, 'here\n');
});

for (const starter of ['auto', 'node'] as const) {
  test(`neighbours (starter ${starter}): without a namespace, who kills the launcher is alone the next time, and is charged`, async () => {
    await using commands = await TestLauncher.open('off', starter);
    const launchers = new Launchers(commands.launcher);
    const run = (job: string, command: string) =>
      new Promise<ExitMessage>((resolve) => {
        const message = { command, cwd: null, env: { WORKRON_JOB_ID: job }, graceMs: 1_000, finish: false };
        launchers.run(message, { onOutput: () => undefined, onExit: resolve });
      });
    const line = longSleep();
    const both = async () => {
      const neighbour = run('neighbour', `timeout 2 ${line}; (exit 7)`);
      await untilAlive(line, 1);
      return await Promise.all([run('hostile', 'kill -9 $PPID; sleep 60'), neighbour]);
    };
    assert.deepEqual(
      (await both()).map(({ stopped }) => stopped),
      ['launcher', 'launcher'],
    );
    const third = longSleep();
    const shared = run('third', third);
    const [hostile, neighbour] = await both();
    assert.deepEqual([hostile.stopped, hostile.signal], [null, 'SIGKILL']);
    assert.deepEqual([neighbour.stopped, neighbour.exitCode], [null, 7]);
    for (const pid of pidsOf(third)) process.kill(pid, 'SIGKILL');
    assert.equal((await shared).stopped, null);
  });
}
