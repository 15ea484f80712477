/**
 * What a hostile job under `run-as` tries on its launcher, on root and on what is closed to its user. A script that ends well has
 * got through. The same list is tried on each way to start a shell.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface JobScript {
  name: string;
  script: string;
  cwd?: string;
  env?: Record<string, string>;
}

interface Target {
  /** The worker, whose child is the launcher. */
  pid: number;
  /** A folder that is closed to the user of the job. What lies in it is open. */
  closed: string;
}

/** Returns a folder within the given one, which must exist. */
export function makeClosedFolder(folder: string): string {
  const closed = join(folder, 'closed');
  mkdirSync(closed, { mode: 0o700 });
  mkdirSync(join(closed, 'open'), { mode: 0o755 });
  writeFileSync(join(closed, 'open', 'file'), 'secret\n', { mode: 0o644 });
  return closed;
}

export function jobScripts({ pid, closed }: Target): JobScript[] {
  const launchers = (script: string) =>
    `for pid in $(grep -lx 'PPid:.${pid}' /proc/[0-9]*/status | cut -d/ -f3); do ${script} && exit; done; false`;
  const processes = [
    ['signals its launcher', launchers('kill -KILL $pid')],
    ['stops its launcher', launchers('kill -STOP $pid')],
    [
      'signals a thread of its launcher',
      launchers('for tid in $(ls /proc/$pid/task); do kill -KILL $tid && exit; done'),
    ],
    ['reads the memory of its launcher', launchers('head -c 1 /proc/$pid/mem')],
    ['reads the environment of its launcher', launchers('head -c 1 /proc/$pid/environ')],
    ['opens the pipe to the worker', launchers('echo x > /proc/$pid/fd/1')],
    ['reads the descriptors of its launcher', launchers('ls /proc/$pid/fd | grep -q .')],
    ['traces its launcher', launchers('timeout 2 strace -p $pid; [ $? -eq 124 ]')],
    ['signals its launcher while commands start', launchers('timeout 2 sh -c "until kill -KILL $pid; do :; done"')],
    ['reads the memory of its parent', 'head -c 1 /proc/$PPID/mem'],
    ['reads the descriptors of its parent', 'ls /proc/$PPID/fd | grep -q .'],
    ['opens a debugger in its parent', 'kill -USR1 $PPID; sleep 0.5; curl -sf http://127.0.0.1:9229/json'],
    ['becomes root by sudo', 'sudo -n true'],
    ['raises its rights', 'setpriv --reuid=0 true'],
    ['mounts', 'mount -t tmpfs none /mnt'],
    ['is root', '[ "$(id -u)" = 0 ] || [ "$(id -ru)" = 0 ]'],
    ['has the group of root', "id -G | tr ' ' '\\n' | grep -qx 0"],
    ['may gain rights', "grep -q '^NoNewPrivs:.*0' /proc/self/status"],
    ['has a capability', "grep -qE '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status"],
    ['inherits a descriptor', 'ls /proc/$$/fd | grep -qvxE "0|1|2"'],
  ].map(([name = '', script = '']) => ({ name, script }));
  const folders = [
    { name: 'starts in a folder of root', script: 'true', cwd: closed },
    { name: 'starts behind a closed folder', script: 'true', cwd: join(closed, 'open') },
    { name: 'reads behind a closed folder', script: 'cat file', cwd: join(closed, 'open') },
    { name: 'starts in the folder of root’s processes', script: 'true', cwd: '/proc/1/cwd' },
    { name: 'starts in the root of root’s processes', script: 'true', cwd: '/proc/1/root/.' },
  ];
  return [...processes, ...folders];
}
