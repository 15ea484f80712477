/**
 * Ends everything that a test process has started when it ends, even by a timeout, kill -9 or a crash. A small shell reads
 * from a pipe that only the test process holds open; when the pipe closes, it ends all registered processes and folders.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** A `group` is a process with its descendants; a `server` gets SIGQUIT first; a `folder` is removed last. */
type Registered = 'process' | 'group' | 'server' | 'folder';

const WATCH = `
list=
while IFS= read -r line; do
  case $line in
    +*) list="$list
\${line#+}" ;;
    -*) list=$(printf '%s\\n' "$list" | grep -Fxv -- "\${line#-}") ;;
  esac
done
printf '%s\\n' "$list" | while read -r what which; do
  case $what in
    process) kill -s KILL "$which" ;;
    group) kill -s KILL -- "-$which" ;;
    server)
      kill -s QUIT "$which"
      tries=0
      while kill -0 "$which" && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
      kill -s KILL "$which" ;;
  esac
done 2>/dev/null
printf '%s\\n' "$list" | while read -r what which; do
  if [ "$what" = folder ]; then rm -rf -- "$which"; fi
done 2>/dev/null`;

let pipe: Socket | undefined;

/** Registers a child until it exits: its pid may be reused afterwards. */
export function endOnExit(what: Exclude<Registered, 'folder'>, child: ChildProcess): void {
  if (child.pid === undefined) return;
  write(`+${what} ${child.pid}`);
  child.once('exit', () => write(`-${what} ${child.pid}`));
}

/** Registers a folder. It may be removed earlier. */
export function removeOnExit(path: string): void {
  write(`+folder ${path}`);
}

function write(line: string): void {
  pipe ??= startWatch();
  pipe.write(`${line}\n`);
}

function startWatch(): Socket {
  // A new session, so that signals to our process group do not reach it.
  const watch = spawn('sh', ['-c', WATCH], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  watch.unref();
  const socket = watch.stdin as Socket;
  socket.on('error', () => undefined);
  socket.unref();
  return socket;
}
