/** Commands as another user: by each way to start a shell, with real processes. */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLog } from '../../src/ops/log.ts';
import { removeWithDrafts } from '../../src/worker/command/checkpoint-file.ts';
import { writePlainFile } from '../../src/worker/command/plain-file.ts';
import { takeResult } from '../../src/worker/command/result-file.ts';
import { type CommandUser, findCommandUser } from '../../src/worker/launcher/command-user.ts';
import { identityOf, TREE_MARK } from '../../src/worker/launcher/process-table.ts';
import { sweepOrphans } from '../../src/worker/launcher/sweep.ts';
import { WorkFolder } from '../../src/worker/launcher/work-folder.ts';
import { jobScripts, makeClosedFolder } from '../attack/job-scripts.ts';
import { TestLauncher, WAYS } from '../kit/launcher.ts';
import { launcherWithin, longSleep, pidsOf, untilAlive } from '../kit/processes.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const OTHER = 65_533;
const user: CommandUser = {
  name: 'other',
  uid: OTHER,
  gid: OTHER,
  groups: [OTHER, 65_532],
  home: '/no/such/home',
  shell: '/bin/false',
};
const needsRoot = { skip: process.getuid?.() === 0 ? false : 'only root can act as another user' };

const uidsOf = (pid: number) => /^Uid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];

/** Starts a few commands at once. They end well. */
async function startAll(commands: TestLauncher): Promise<void> {
  const ended = await Promise.all(Array.from({ length: 8 }, () => commands.run('true')));
  assert.deepEqual(
    ended.filter(({ exitCode }) => exitCode !== 0),
    [],
  );
}

async function killLauncher(commands: TestLauncher): Promise<void> {
  const ended = commands.run('sleep 60');
  process.kill(commands.launcher.pid as number, 'SIGKILL');
  await ended;
}

for (const { pidNamespace, starter } of WAYS) {
  const promise = (name: string) => `run-as (namespace ${pidNamespace}, starter ${starter}): ${name}`;
  const open = (noNewPrivileges = true) => TestLauncher.open(pidNamespace, starter, { user, noNewPrivileges });

  test(promise('a command has the ids, groups and variables of the user, and no other right'), needsRoot, async () => {
    await using commands = await open();
    const status = await commands.run("grep -E '^(Uid|Gid|Groups|Cap(Prm|Eff|Amb)|NoNewPrivs):' /proc/self/status");
    const four = Array(4).fill(OTHER).join('\t');
    const none = '0'.repeat(16);
    assert.equal(
      status.output,
      `Uid:\t${four}\nGid:\t${four}\nGroups:\t65532 ${OTHER} \n` +
        `CapPrm:\t${none}\nCapEff:\t${none}\nCapAmb:\t${none}\nNoNewPrivs:\t1\n`,
    );
    const rest = await commands.run('echo $HOME $USER $LOGNAME $SHELL $PWD; echo again > /dev/stderr');
    assert.equal(rest.output, '/no/such/home other other /bin/false /\nagain\n');
  });

  test(promise('its environment has no effect on what runs before it'), needsRoot, async () => {
    await using commands = await open();
    await using folder = await temporaryFolder();
    const trace = join(folder.path, 'trace');
    // Each program that starts with it writes its ids to a file.
    const env = { LD_DEBUG: 'statistics', LD_DEBUG_OUTPUT: trace, PATH: `${folder.path}:${process.env['PATH']}` };
    chownSync(folder.path, OTHER, OTHER);
    await commands.run('true', { env });
    const traces = execFileSync('find', [folder.path, '-name', 'trace*', '-printf', '%U\\n'], { encoding: 'utf8' });
    assert.deepEqual(new Set(traces.trim().split('\n')), new Set([String(OTHER)]));
  });

  test(promise('the launcher stays root, and goes on after a command that could not start'), needsRoot, async () => {
    await using commands = await open();
    await using folder = await temporaryFolder();
    const closed = await commands.run('true', { cwd: folder.path });
    assert.equal(closed.startError, `${folder.path} cannot be entered`);
    assert.match((await commands.run('true', { cwd: '/no/such' })).startError ?? '', /does not exist/);
    assert.equal((await commands.run('id -u')).output, `${OTHER}\n`);
    assert.equal(uidsOf(commands.launcher.pid as number), '0\t0\t0\t0');
  });

  test(promise('what a hostile job tries does not work, nor on the next launcher'), needsRoot, async () => {
    await using commands = await open();
    await using folder = await temporaryFolder();
    const scripts = jobScripts({ pid: process.pid, closed: makeClosedFolder(folder.path) });
    for (const launcher of ['first', 'next']) {
      const busy = startAll(commands);
      const tried = scripts.map(async ({ name, script, cwd = null, env = {} }) => {
        const { exitCode, stopped } = await commands.run(`(${script}) >/dev/null 2>&1`, { cwd, env });
        return exitCode === 0 || stopped === 'launcher' ? [`${launcher} launcher: ${name}`] : [];
      });
      assert.deepEqual((await Promise.all(tried)).flat(), []);
      await busy;
      if (launcher === 'first') await killLauncher(commands);
    }
  });

  test(promise('no thread of the launcher has the user’s ids, even while a command starts'), needsRoot, async () => {
    await using commands = await open();
    await commands.run('true');
    const threads = readdirSync(`/proc/${launcherWithin(commands.launcher.pid as number)}/task`);
    const tries = 'for tid; do kill -0 "$tid" && echo "signalled $tid" && exit; done';
    const signaller = spawn('sh', ['-c', `while :; do ${tries}; done`, 'sh', ...threads], {
      uid: OTHER,
      gid: OTHER,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const closed = once(signaller, 'close');
    let told = '';
    signaller.stdout.on('data', (text: Buffer) => (told += text.toString()));
    for (let n = 0; n < 20; n += 1) await startAll(commands);
    signaller.kill('SIGKILL');
    await closed;
    assert.equal(told, '');
  });

  test(promise('a folder that the user may not see is not told from one that does not exist'), needsRoot, async () => {
    await using commands = await open();
    await using folder = await temporaryFolder();
    const errorOf = async (name: string) => {
      const { startError } = await commands.run('true', { cwd: join(folder.path, name) });
      return startError?.replace(name, 'NAME');
    };
    writeFileSync(join(folder.path, 'file'), '');
    mkdirSync(join(folder.path, 'folder'));
    assert.ok(await errorOf('missing'));
    assert.equal(await errorOf('file'), await errorOf('missing'));
    assert.equal(await errorOf('folder'), await errorOf('missing'));
  });

  test(
    promise('a command that kills its parent ends no other command, if the C library can be called'),
    needsRoot,
    async () => {
      await using commands = await open();
      const line = longSleep();
      const neighbour = commands.run(`timeout 1.5 ${line}; (exit 7)`);
      await untilAlive(line, 1);
      const hostile = commands.run('kill -KILL $PPID; sleep 0.5; exit 3');
      const ends = (await Promise.all([hostile, neighbour])).map(({ exitCode, stopped }) => exitCode ?? stopped);
      // Without the C library, the launcher cannot adopt them.
      const adopts = starter === 'auto' && isBuiltin('node:ffi');
      assert.deepEqual(ends, adopts ? [3, 7] : ['launcher', 'launcher']);
      assert.deepEqual(pidsOf(line), []);
      assert.equal((await commands.run('id -u')).output, `${OTHER}\n`);
    },
  );

  test(
    promise('stopping reaches processes of the user, however they hide and whatever they ignore'),
    needsRoot,
    async () => {
      await using commands = await open();
      const [line, hidden] = [longSleep(), longSleep()];
      const ended = commands.run(
        `trap '' TERM; (setsid ${line} &) ; env -i setsid sh -c '${hidden}; :' & ${line}; ${line}`,
      );
      await untilAlive(line, 2);
      await untilAlive(hidden, 1);
      assert.equal(uidsOf(pidsOf(line)[0] as number), Array(4).fill(OTHER).join('\t'));
      commands.stop(200);
      const { stopped, left } = await ended;
      assert.deepEqual([stopped, left], ['asked', 0]);
      assert.deepEqual([...pidsOf(line), ...pidsOf(hidden)], []);
    },
  );

  test(promise('when the launcher is killed, its commands end and the next one works'), needsRoot, async () => {
    await using commands = await open();
    const line = longSleep();
    const ended = commands.run(`setsid ${line} & ${line}`);
    await untilAlive(line, 2);
    await killLauncher(commands);
    assert.equal((await ended).stopped, 'launcher');
    assert.deepEqual(pidsOf(line), []);
    assert.equal((await commands.run('id -u')).output, `${OTHER}\n`);
  });
}

test(
  'run-as: a sweep believes the mark of the user, but ends nothing of others in the same session',
  needsRoot,
  async () => {
    const [theirs, ours] = [longSleep(), longSleep()];
    const mark = `${identityOf(1).replace(/\.\d+$/, '.1')}.1`;
    const script = `setpriv --reuid=${OTHER} --regid=${OTHER} --clear-groups env ${TREE_MARK}=${mark} ${theirs} & ${ours} & wait`;
    const child = spawn('sh', ['-c', script], { detached: true, stdio: 'ignore' });
    try {
      await untilAlive(theirs, 1);
      await untilAlive(ours, 1);
      await sweepOrphans(silentLog, null);
      assert.equal(pidsOf(theirs).length, 1);
      await sweepOrphans(silentLog, user);
      assert.deepEqual([pidsOf(theirs).length, pidsOf(ours).length], [0, 1]);
    } finally {
      process.kill(-(child.pid as number), 'SIGKILL');
    }
  },
);

test('run-as: the work folder is open to the user in one place, and to nobody else', needsRoot, () => {
  using folder = new WorkFolder(user);
  const as = (uid: number, script: string) => {
    try {
      const options = { uid, gid: uid, encoding: 'utf8' as const, stdio: ['ignore', 'pipe', 'ignore'] as const };
      execFileSync('/bin/sh', ['-c', script, 'sh', folder.path, folder.commands], {
        ...options,
        stdio: [...options.stdio],
      });
      return true;
    } catch {
      return false;
    }
  };
  writePlainFile(join(folder.commands, 'parents-1-1.json'), '{}', user);
  assert.ok(as(OTHER, 'echo x > "$2/result" && cat "$2/parents-1-1.json"'));
  assert.ok(!as(OTHER, 'ls "$1"'));
  assert.ok(!as(OTHER, 'mv "$2" "$1/elsewhere"'));
  assert.ok(!as(OTHER - 1, 'ls "$2"'));
  assert.ok(!as(OTHER - 1, 'cat "$2/result"'));
  const before = folder.path;
  assert.equal(folder.path, before, 'it is still the same');
});

test(
  'run-as: files that a command puts in place of its own are neither followed nor removed elsewhere',
  needsRoot,
  async () => {
    await using outside = await temporaryFolder();
    const secret = join(outside.path, 'secret');
    writeFileSync(secret, 'token=abc\n', { mode: 0o600 });
    mkdirSync(join(outside.path, 'kept'));
    using folder = new WorkFolder(user);
    const at = (name: string) => join(folder.commands, name);
    symlinkSync(secret, at('result'));
    assert.match((takeResult(at('result'), user, String) as { error: string }).error, /is not a plain file/);
    execFileSync('ln', [secret, at('result')]);
    assert.match((takeResult(at('result'), user, String) as { error: string }).error, /is a file of another user/);
    symlinkSync(secret, at('input'));
    writePlainFile(at('input'), 'changed', user);
    assert.equal(readFileSync(secret, 'utf8'), 'token=abc\n');
    assert.deepEqual([lstatSync(at('input')).uid, lstatSync(at('input')).mode & 0o777], [OTHER, 0o600]);
    symlinkSync(outside.path, at('checkpoint.link'));
    mkdirSync(at('checkpoint.folder'));
    chownSync(at('checkpoint.folder'), OTHER, OTHER);
    symlinkSync(outside.path, join(at('checkpoint.folder'), 'link'));
    removeWithDrafts(at('checkpoint'), user);
    assert.ok(!existsSync(at('checkpoint.folder')));
    const { path } = folder;
    folder[Symbol.dispose]();
    assert.ok(!existsSync(path));
    assert.ok(existsSync(join(outside.path, 'kept')));
  },
);

test('run-as: a user that does not exist, root, and a worker that is not root are refused', async () => {
  if (process.getuid?.() !== 0) return assert.rejects(findCommandUser('nobody'), /only a process of root can/);
  await assert.rejects(findCommandUser('no-such-user'), /no user "no-such-user" on this machine/);
  await assert.rejects(findCommandUser('--help'), /no user "--help"/);
  await assert.rejects(findCommandUser('root'), /root is root; expected another user/);
  const { name, uid, gid, groups, home } = await findCommandUser('nobody');
  const [id, group] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'nobody'])));
  assert.deepEqual([name, uid, gid, groups.includes(group as number), home !== ''], ['nobody', id, group, true, true]);
});
