/**
 * What a test process starts ends with it, whatever ends it: a time-out, kill -9, a crash. Beside it lives a small
 * shell that reads from a pipe which nobody else holds open; when the pipe closes, it ends all that it was told of.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** A `group` is the process with all that it started; a `server` is asked to end first, a `folder` is removed last. */
type Belonging = 'process' | 'group' | 'server' | 'folder';

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

/** Until the child exits: its number may be another's afterwards. */
export function endsWithUs(what: Exclude<Belonging, 'folder'>, child: ChildProcess): void {
  if (child.pid === undefined) return;
  tell(`+${what} ${child.pid}`);
  child.once('exit', () => tell(`-${what} ${child.pid}`));
}

/** Removing it earlier is no harm. */
export function folderEndsWithUs(path: string): void {
  tell(`+folder ${path}`);
}

function tell(line: string): void {
  pipe ??= startWatch();
  pipe.write(`${line}\n`);
}

function startWatch(): Socket {
  // A session of its own: what is meant for our group must not reach it.
  const watch = spawn('sh', ['-c', WATCH], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  watch.unref();
  const socket = watch.stdin as Socket;
  socket.on('error', () => undefined);
  socket.unref();
  return socket;
}
