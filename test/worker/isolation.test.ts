import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLimits } from '../../src/worker/command/isolation.ts';
import { TestLauncher } from '../kit/launcher.ts';

test('isolation: the limits of a command hold in all its processes, and it cannot raise them', async () => {
  await using commands = await TestLauncher.open('off', 'auto');
  const run = (command: string) => commands.run(withLimits(command, { openFiles: 64, cpuTimeMs: 1_500 }));
  assert.equal((await run('ulimit -n; ulimit -H -n; sh -c "ulimit -S -t; ulimit -H -t"')).output, '64\n64\n2\n3\n');
  const spun = await run('exec sh -c "while :; do :; done"');
  assert.equal(spun.signal, 'SIGXCPU');
  // An error of the shell still names the line of the command.
  assert.match((await run('true\nno-such-program')).output, /\b2: no-such-program: not found/);
});

test('isolation: a limit that cannot be set is an error of the command, which does not run without it', async () => {
  await using commands = await TestLauncher.open('off', 'auto');
  const command = withLimits('ulimit -n', { openFiles: 65, cpuTimeMs: null });
  const { output, exitCode } = await commands.run(`ulimit -n 64; ${command}`);
  // Only some users may raise a limit.
  if (exitCode === 0) assert.equal(output, '65\n');
  else assert.match(output, /ulimit/);
});

test('isolation: without limits a command is left as it is', () => {
  assert.equal(withLimits('echo', { openFiles: null, cpuTimeMs: null }), 'echo');
});
