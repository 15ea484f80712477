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
import { reportGone } from './report-gone.ts';
import { Supervisor } from './supervisor.ts';

const WATCH_MS = 100;
const O_CLOEXEC = 0o2000000;

const [folder, place, means, whom, group] = process.argv.slice(2) as [string, string, string, string, string?];
/** Whom commands run as; `null`: the user of this process. */
const user = JSON.parse(whom) as CommandUser | null;
const enclosed = place === 'enclosed';
process.title = 'workron launcher';
// The worker ends the launcher by closing the pipe.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
closeInherited();
if (user !== null) enterHome(user);

const env = { ...process.env };
for (const name of [LAUNCHER_MARK, ...LAUNCHER_VARIABLES]) delete env[name];
// Not process.stdout: writes to it would block if the worker does not read, and the deadline would pass unnoticed.
const output = new Socket({ fd: 1, readable: false, writable: true });
// The end of the input shows that the worker is gone.
output.on('error', () => undefined);

const posix = means === 'auto' ? await openPosixStarter(user) : undefined;
if (posix === undefined && user !== null && user.groups.some((group) => group !== user.gid)) {
  console.error(`commands have only the primary group of ${user.name}: this version of Node cannot set others`);
}

const supervisor = new Supervisor({
  folder,
  enclosed,
  group: group ?? null,
  env,
  starter: posix ?? nodeStarter(user),
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

/** Frames sent in one turn of the event loop are written together. */
function send(frame: Buffer): void {
  if (output.writableCorked === 0) {
    output.cork();
    process.nextTick(() => output.uncork());
  }
  output.write(frame);
}

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

/** Commands without a folder of their own start there, as in cron. The worker's own may be closed to the user. */
function enterHome({ home }: CommandUser): void {
  try {
    process.chdir(home);
  } catch {
    process.chdir('/');
  }
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
