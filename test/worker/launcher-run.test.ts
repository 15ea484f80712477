/** Commands through a real launcher: in a PID namespace where the machine allows it, and without; by each way to start a shell. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { effort } from '../effort.ts';
import { MODES, TestLauncher, WAYS } from '../kit/launcher.ts';
import { childrenOf, launcherWithin } from '../kit/processes.ts';

/** Takes a second of processor time, whatever the machine does besides. */
const BUSY = "sh -c 'ulimit -t 1; while :; do :; done'";

for (const { pidNamespace, starter } of WAYS) {
  const promise = (name: string) => `launcher (namespace ${pidNamespace}, starter ${starter}): ${name}`;

  test(promise('what a command used is counted, of all processes that it waited for'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const { usage } = await commands.run(`(${BUSY}; true) | cat; true`);
    if (usage === null) return assert.ok(starter === 'node' || !isBuiltin('node:ffi'));
    assert.ok(usage.cpuMs >= 500, `${usage.cpuMs} ms`);
    assert.equal(usage.maxRssBytes, null, 'less than the launcher itself has');
    const megabytes = 150;
    const large = await commands.run(`head -c ${megabytes}M /dev/zero | tail -n 1 | wc -c`);
    assert.equal(large.output.trim(), String(megabytes * 2 ** 20));
    const peak = (large.usage?.maxRssBytes ?? 0) / 2 ** 20;
    assert.ok(peak >= megabytes && peak < megabytes * 2.5, `${peak} MiB`);
    assert.ok(((await commands.run('true')).usage?.cpuMs ?? 1_000) < 500, 'nothing of the commands before');
  });

  test(promise('both streams come in the order they were written'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const lines = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? `o${n}` : `e${n}`));
    const command = lines.map((line) => `echo ${line}${line.startsWith('e') ? ' >&2' : ''}`).join('\n');
    const { output } = await commands.run(command);
    assert.equal(output, `${lines.join('\n')}\n`);
  });

  test(
    promise('an exit code, a signal, a missing folder and a long line each come back as what they are'),
    async () => {
      await using commands = await TestLauncher.open(pidNamespace, starter);
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
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const { output } = await commands.run('ls /proc/self/fd; readlink /proc/self/fd/0; [ -t 0 ] || echo no terminal');
    // The 3 is what ls reads the folder by.
    assert.equal(output, '0\n1\n2\n3\n/dev/null\nno terminal\n');
    const marks = await commands.run('env | cut -d= -f1; echo x > /dev/stderr; grep SigIgn /proc/self/status');
    assert.doesNotMatch(marks.output, /WORKRON_LAUNCHER|NODE_/);
    assert.match(marks.output, /\nx\nSigIgn:\s+0+\n/);
    const ids = await commands.run('echo $$; cut -d" " -f5,6 /proc/$$/stat; grep SigBlk /proc/self/status');
    const [pid] = ids.output.split('\n');
    assert.match(ids.output, new RegExp(`^${pid}\n${pid} ${pid}\nSigBlk:\\s+0+\n$`), 'leads its session and group');
  });

  test(promise('environment and folder arrive byte for byte; a NUL is refused'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const cwd = join(commands.folder, " a 'folder' für\nalle $x");
    mkdirSync(cwd);
    const env = { EMPTY: '', ODD: ' "\'\\\n$(true)\t\u{1f642}', 'not-a-name.1': 'kept', LONG: 'ü'.repeat(40_000) };
    const command = `printf '%s|' "\${EMPTY-unset}" "$ODD"; printf %s "$LONG" | wc -c; pwd -P; grep -zc '^not-a-name.1=kept$' /proc/$$/environ`;
    const { output } = await commands.run(command, { env, cwd });
    const told = Buffer.from(output, 'latin1').toString();
    assert.equal(told, `|${env.ODD}|80000\n${cwd}\n1\n`);
    const [variable, folder] = await Promise.all([
      commands.run('true', { env: { CUT: 'a\0b' } }),
      commands.run('true', { cwd: '/tmp\0/x' }),
    ]);
    for (const { startError } of [variable, folder]) assert.match(startError ?? '', /NUL|null bytes/);
  });

  test(promise('after many commands it holds no more files, and no dead child, than before'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const before = await heldBy(commands);
    const others = ['true', 'exit 1', 'kill -TERM $$', '(sleep 0.05; echo late) & exit'];
    for (let n = 0; n < effort.commandsInTurn; n += 8) {
      await Promise.all([
        ...Array.from({ length: 6 }, (_, m) => commands.run(others[(n + m) % others.length] as string)),
        commands.run('true', { cwd: '/no/such/folder' }),
        commands.run(`: ${'x'.repeat(200_000)}`),
      ]);
    }
    assert.deepEqual(await heldBy(commands), { ...before, dead: 0 });
  });

  test(promise('NUL, broken UTF-8 and a missing newline pass unchanged'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const { output } = await commands.run(String.raw`printf 'a\000b\377\376c'`);
    assert.equal(output, 'a\0b\xff\xfec');
  });

  test(promise('it goes on when somebody tidies the temporary files away'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    await commands.run('true');
    rmSync(commands.folder, { recursive: true });
    assert.equal((await commands.run('echo still here')).output, 'still here\n');
  });

  test(promise('many commands at once all run, with pipes of their own'), async () => {
    await using commands = await TestLauncher.open(pidNamespace, starter);
    const count = effort.commandsAtOnce;
    const ended = await Promise.all(
      Array.from({ length: count }, (_, n) => commands.run(`echo ${n}; sleep 0.2; echo ${n}`)),
    );
    for (const [n, { output, exitCode }] of ended.entries()) assert.deepEqual([output, exitCode], [`${n}\n${n}\n`, 0]);
  });
}

test('launcher: the C library is called where this Node can, and not where it cannot', async () => {
  const { href } = new URL('../../src/worker/launcher/posix-starter.ts', import.meta.url);
  const script = `const { openPosixStarter } = await import('${href}'); console.log(typeof (await openPosixStarter({ adopts: true, cells: false })));`;
  const ask = async (...flags: string[]) => {
    const args = [...flags, '--input-type=module', '-e', script];
    return (await promisify(execFile)(process.execPath, args)).stdout.trim();
  };
  const can = isBuiltin('node:ffi') && process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
  assert.equal(await ask(), can ? 'object' : 'undefined');
  if (can) assert.equal(await ask('--no-experimental-ffi'), 'undefined');
});

for (const pidNamespace of MODES) {
  const promise = (name: string) => `launcher (namespace ${pidNamespace}): ${name}`;

  test(promise('the C library is not called any more after a crash, but after a kill'), async () => {
    await using commands = await TestLauncher.open(pidNamespace);
    const usageAfter = async (signal: NodeJS.Signals) => {
      const ended = commands.run('sleep 60');
      await commands.run('true');
      process.kill(launcherWithin(commands.launcher.pid as number), signal);
      assert.equal((await ended).stopped, 'launcher');
      return (await commands.run('true')).usage;
    };
    assert.equal((await usageAfter('SIGKILL')) !== null, isBuiltin('node:ffi'));
    assert.equal(await usageAfter('SIGSEGV'), null);
  });
}

/** The files and dead children of the launcher, after as many commands at once as the test runs. */
async function heldBy(commands: TestLauncher): Promise<{ files: number; dead: number }> {
  await Promise.all(Array.from({ length: 8 }, () => commands.run('sleep 0.05')));
  const pid = launcherWithin(commands.launcher.pid as number);
  const dead = childrenOf(pid).filter((child) => /^State:\s+Z/m.test(readFileSync(`/proc/${child}/status`, 'utf8')));
  return { files: readdirSync(`/proc/${pid}/fd`).length, dead: dead.length };
}
