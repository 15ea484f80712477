/**
 * The launcher: a small separate process that starts the commands of one worker, and outlives it only to stop them. It
 * reads frames from its standard input and writes frames to its standard output.
 */

import { closeSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { monotonicMs } from '../../ops/monotonic.ts';
import type { CommandUser } from './command-user.ts';
import {
  type DeadlineMessage,
  encodeFrame,
  encodeMessage,
  FRAME,
  FrameReader,
  type GoneMessage,
  type StartMessage,
  type StopMessage,
} from './frames.ts';
import { nodeStarter } from './node-starter.ts';
import { openPosixStarter } from './posix-starter.ts';
import { hasProcessTable, LAUNCHER_MARK, LAUNCHER_VARIABLES, REPORTING_TITLE } from './process-table.ts';
import { openRemoteStarter } from './remote-starter.ts';
import { reportGone } from './report-gone.ts';
import type { ShellStarter } from './shell-starter.ts';
import { Supervisor } from './supervisor.ts';

const WATCH_MS = 100;
const O_CLOEXEC = 0o2000000;

export interface LauncherProcessOptions {
  /** For its pipes. */
  folder: string;
  /** True if it runs in its own PID namespace. */
  enclosed: boolean;
  /** `auto`: by the C library, if it can be called. */
  means: 'auto' | 'node';
  /** Whom commands run as; `null`: the user of this process. */
  user: CommandUser | null;
  /** Its control group; `null`: it has none. */
  group: string | null;
}

export async function runLauncher({ folder, enclosed, means, user, group }: LauncherProcessOptions): Promise<void> {
  process.title = 'workron launcher';
  // The worker ends the launcher by closing the pipe.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  closeInherited();
  const env = { ...process.env };
  for (const name of [LAUNCHER_MARK, ...LAUNCHER_VARIABLES]) delete env[name];
  const send = openOutput();
  const supervisor = new Supervisor({
    folder,
    enclosed,
    group,
    env,
    starter: await openStarter({ means, user, enclosed }),
    user,
    monotonicMs,
    onOutput: (id, data) => send(encodeFrame(FRAME.output, id, data)),
    onExit: (id, exit) => send(encodeMessage(FRAME.exit, id, exit)),
  });
  /** What to report if the worker ends without leaving. */
  let gone: GoneMessage = null;
  const frames = new FrameReader((kind, id, payload) => {
    if (kind === FRAME.credit) return supervisor.addCredit(id, payload.readUInt32LE(0));
    const message: unknown = JSON.parse(payload.toString());
    if (kind === FRAME.start) supervisor.start(id, message as StartMessage);
    else if (kind === FRAME.stop) supervisor.stop(id, (message as StopMessage).graceMs);
    else if (kind === FRAME.deadline) supervisor.setDeadline(message as DeadlineMessage);
    else if (kind === FRAME.gone) gone = message as GoneMessage;
  });
  const input = new Socket({ fd: 0, readable: true, writable: false });
  input.on('data', (chunk: Buffer) => frames.push(chunk));
  input.on('error', () => undefined);
  input.on('close', () => void leave());
  const watch = setInterval(() => supervisor.watchDeadline(), WATCH_MS);

  async function leave(): Promise<void> {
    const nothingLeft = await supervisor.abandon();
    clearInterval(watch);
    if (nothingLeft && gone !== null) {
      // A worker that starts meanwhile spares it.
      process.title = REPORTING_TITLE;
      await reportGone(gone);
    }
    rmSync(folder, { recursive: true, force: true });
    // In a PID namespace, the kernel kills what is left.
    process.exit(0);
  }
}

type StarterChoice = Pick<LauncherProcessOptions, 'means' | 'user' | 'enclosed'>;

async function openStarter({ means, user, enclosed }: StarterChoice): Promise<ShellStarter> {
  if (user !== null) return await openRemoteStarter({ means, user });
  return (means === 'auto' ? await openPosixStarter({ adopts: true, cells: enclosed }) : undefined) ?? nodeStarter;
}

/** Frames sent in one turn of the event loop are written together. */
function openOutput(): (frame: Buffer) => void {
  // Not process.stdout: writes to it would block if the worker does not read, and the deadline would pass unnoticed.
  const output = new Socket({ fd: 1, readable: false, writable: true });
  // The end of the input shows that the worker is gone.
  output.on('error', () => undefined);
  return (frame) => {
    if (output.writableCorked === 0) {
      output.cork();
      process.nextTick(() => output.uncork());
    }
    output.write(frame);
  };
}

/** Node opens its own files with close-on-exec, but commands would inherit those that it was started with. */
function closeInherited(): void {
  if (!hasProcessTable) return;
  for (const name of readdirSync('/proc/self/fd')) {
    const fd = Number(name);
    if (fd > 2 && isInherited(fd)) closeSync(fd);
  }
}

function isInherited(fd: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}
