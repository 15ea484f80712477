/** The user that a worker under root runs its commands as (`run-as`). */

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { passedOn } from '../command/environment.ts';
import { canSignal } from './process-table.ts';

const ANSWER_MS = 10_000;
/** Waits for the end of its input, so that it can be looked at meanwhile. */
const PROBE = 'cd -- "$1" && echo entered && read -r line';

/** Whom a file belongs to. */
export interface Owner {
  uid: number;
  gid: number;
}

export interface CommandUser extends Owner {
  name: string;
  /** Supplementary groups, with the primary one. */
  groups: readonly number[];
  home: string;
  shell: string;
}

/** Finds the user and checks that commands can be started as this user and stopped. Rejects with what is wrong. */
export async function findCommandUser(name: string): Promise<CommandUser> {
  if (process.getuid?.() !== 0) throw new Error('only a process of root can run commands as another user');
  const entry = (await passwdEntry(name))?.split(':');
  if (entry === undefined) throw new Error(`no user ${JSON.stringify(name)} on this machine`);
  const [login, , uid, gid, , home, shell] = entry as [string, ...string[]];
  if (Number(uid) === 0) throw new Error(`${login} is root; expected another user`);
  const { stdout } = await run('id', ['-G', login]);
  const user: CommandUser = {
    name: login,
    uid: Number(uid),
    gid: Number(gid),
    groups: stdout.trim().split(/\s+/).map(Number),
    home: home || '/',
    shell: shell || '/bin/sh',
  };
  await probe(user);
  return user;
}

/** Variables of the environment that say who the user is. */
export function variablesOf({ name, home, shell }: CommandUser): Record<string, string> {
  return { HOME: home, USER: name, LOGNAME: name, SHELL: shell };
}

/** `getent` knows users of every source; without it, those of /etc/passwd are known. */
async function passwdEntry(name: string): Promise<string | undefined> {
  // Otherwise it would be taken for an option.
  if (!/^[^-:\s][^:\s]*$/.test(name)) return undefined;
  try {
    return (await run('getent', ['passwd', name])).stdout.trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return undefined;
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${name}:`));
  }
}

/** Even root may lack the right to change its user, or to signal processes of others: in a container for instance. */
async function probe({ name, uid, gid }: CommandUser): Promise<void> {
  const child = spawn('/bin/sh', ['-c', PROBE, 'sh', tmpdir()], {
    uid,
    gid,
    cwd: '/',
    env: passedOn(process.env),
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: ANSWER_MS,
    killSignal: 'SIGKILL',
  });
  const ended = once(child, 'close');
  child.stdin.on('error', () => undefined);
  let entered = false;
  let signalled = false;
  child.stdout.once('data', () => {
    entered = true;
    signalled = canSignal(child.pid as number);
    child.stdin.end();
  });
  await ended.catch((error: unknown) => {
    throw new Error(`commands cannot be started as ${name}`, { cause: error });
  });
  if (!entered) throw new Error(`${name} cannot use the folder for temporary files, ${tmpdir()} (TMPDIR)`);
  if (!signalled) throw new Error(`processes of ${name} cannot be stopped: this process lacks CAP_KILL`);
}

function run(command: string, args: readonly string[]) {
  return promisify(execFile)(command, args, { env: passedOn(process.env), timeout: ANSWER_MS });
}
