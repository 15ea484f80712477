/** Commands through a real launcher, in a PID namespace where the machine allows it, and without. */

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { effort } from './effort.ts';
import { MODES, TestLauncher } from './kit/launcher.ts';

for (const mode of MODES) {
  const promise = (name: string) => `launcher (namespace ${mode}): ${name}`;

  test(promise('both streams come in the order they were written'), async () => {
    await using commands = await TestLauncher.open(mode);
    const lines = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? `o${n}` : `e${n}`));
    const command = lines.map((line) => `echo ${line}${line.startsWith('e') ? ' >&2' : ''}`).join('\n');
    const { output } = await commands.run(command);
    assert.equal(output, `${lines.join('\n')}\n`);
  });

  test(
    promise('an exit code, a signal, a missing folder and a long line each come back as what they are'),
    async () => {
      await using commands = await TestLauncher.open(mode);
      const [code, signal, folder, line] = await Promise.all([
        commands.run('exit 7'),
        commands.run('kill -KILL $$'),
        commands.run('true', { cwd: '/no/such/folder' }),
        commands.run(`: ${'x'.repeat(200_000)}`),
      ]);
      assert.deepEqual([code.exitCode, code.signal, code.stopped], [7, null, null]);
      assert.deepEqual([signal.exitCode, signal.signal, signal.stopped], [null, 'SIGKILL', null]);
      assert.match(folder.startError ?? '', /working directory \/no\/such\/folder does not exist/);
      assert.match(line.startError ?? '', /E2BIG/);
    },
  );

  test(promise('a command has its three streams, a session of its own, and nothing else of ours'), async () => {
    await using commands = await TestLauncher.open(mode);
    const { output } = await commands.run('ls /proc/self/fd; readlink /proc/self/fd/0; [ -t 0 ] || echo no terminal');
    // The 3 is what ls reads the folder by.
    assert.equal(output, '0\n1\n2\n3\n/dev/null\nno terminal\n');
    const marks = await commands.run('env | cut -d= -f1; echo x > /dev/stderr; grep SigIgn /proc/self/status');
    assert.doesNotMatch(marks.output, /WORKRON_LAUNCHER|NODE_/);
    assert.match(marks.output, /\nx\nSigIgn:\s+0+\n/);
  });

  test(promise('NUL, broken UTF-8 and a missing newline pass unchanged'), async () => {
    await using commands = await TestLauncher.open(mode);
    const { output } = await commands.run(String.raw`printf 'a\000b\377\376c'`);
    assert.equal(output, 'a\0b\xff\xfec');
  });

  test(promise('it goes on when somebody tidies the temporary files away'), async () => {
    await using commands = await TestLauncher.open(mode);
    await commands.run('true');
    rmSync(commands.folder, { recursive: true });
    assert.equal((await commands.run('echo still here')).output, 'still here\n');
  });

  test(promise('many commands at once all run, with pipes of their own'), async () => {
    await using commands = await TestLauncher.open(mode);
    const count = effort.commandsAtOnce;
    const ended = await Promise.all(
      Array.from({ length: count }, (_, n) => commands.run(`echo ${n}; sleep 0.2; echo ${n}`)),
    );
    for (const [n, { output, exitCode }] of ended.entries()) assert.deepEqual([output, exitCode], [`${n}\n${n}\n`, 0]);
  });
}
