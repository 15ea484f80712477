/**
 * The process that starts shells as another user. It becomes that user before it reads its first frame, for good: folders are
 * entered, files opened and programs executed with the user's rights. What changes its ids cannot be traced, and its memory
 * cannot be read, by other processes of that user. They can kill it, which ends no shell.
 */

import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { type CommandUser } from './command-user.ts';
import { encodeMessage, FRAME, FrameReader } from './frames.ts';
import { nodeStarter } from './node-starter.ts';
import { openPosixStarter } from './posix-starter.ts';
import type { StarterOptions } from './remote-starter.ts';
import type { Shell, ShellStarter } from './shell-starter.ts';

type StartFrame = Omit<Shell, 'output'> & { output: string };

export async function runStarter({ user, means }: StarterOptions): Promise<void> {
  process.title = 'workron starter';
  become(user);
  const output = new Socket({ fd: 1, readable: false, writable: true });
  output.on('error', () => undefined);
  const starter =
    (means === 'auto' ? await openPosixStarter({ adopts: false, cells: false }) : undefined) ?? nodeStarter;
  const send = (kind: number, id: number, message: unknown) => output.write(encodeMessage(kind, id, message));
  const frames = new FrameReader((_kind, id, payload) =>
    start(starter, JSON.parse(payload.toString()) as StartFrame, (kind, message) => send(kind, id, message)),
  );
  const input = new Socket({ fd: 0, readable: true, writable: false });
  input.on('data', (chunk: Buffer) => frames.push(chunk));
  input.on('error', () => undefined);
  // The launcher has ended, or started another one.
  input.on('close', () => process.exit(0));
}

function become({ uid, gid, groups, home }: CommandUser): void {
  process.setgroups?.([...groups]);
  process.setgid?.(gid);
  process.setuid?.(uid);
  // Commands without a folder of their own start there, as in cron.
  try {
    process.chdir(home);
  } catch {
    process.chdir('/');
  }
}

function start(
  starter: ShellStarter,
  { output, ...shell }: StartFrame,
  send: (kind: number, message: unknown) => void,
): void {
  let writeFd: number | undefined;
  try {
    writeFd = openSync(output, constants.O_WRONLY | constants.O_NOFOLLOW);
    starter.start(
      { ...shell, output: { path: output, writeFd } },
      {
        onStart: (pid) => send(FRAME.started, pid),
        onRefused: (reason) => send(FRAME.refused, reason),
        onExit: (exit) => send(FRAME.ended, exit),
        onLost: () => undefined,
      },
    );
  } catch (error) {
    send(FRAME.refused, error instanceof Error ? error.message : String(error));
  } finally {
    if (writeFd !== undefined) closeSync(writeFd);
  }
}
