/** Starts real Workron processes. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endOnExit, removeOnExit } from './end-on-exit.ts';
import { PROGRAM } from './program.ts';

export interface WorkronProcess extends AsyncDisposable {
  child: ChildProcess;
  pid: number;
  /** The URL of the API; empty if it has none. */
  url: string;
  /** Everything it has printed. */
  output(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  exited: Promise<number | string>;
  signal(name: NodeJS.Signals): void;
}

export interface StartOptions {
  args: readonly string[];
  env?: Record<string, string>;
  cwd?: string;
  /** The output that means that it is ready. */
  until?: RegExp;
  /** Another program than PROGRAM. */
  command?: string;
  /** It makes a token itself, as it does for users. Otherwise, without a token, it needs none. */
  ownToken?: boolean;
  /** The user and group that it runs as. */
  uid?: number;
}

/** Starts `workron ARGS` and resolves once it is up. Disposing kills it. */
export async function startWorkron({
  args,
  env = {},
  cwd,
  until = /Workron (is up|worker)/,
  command = PROGRAM,
  ownToken = false,
  uid,
}: StartOptions): Promise<WorkronProcess> {
  const child = spawn(command, args, {
    env: { ...(ownToken ? {} : { WORKRON_INSECURE_NO_TOKEN: 'on' }), ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A new process group, so that the processes that npm starts can be killed with it.
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  endOnExit('group', child);
  let output = '';
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const ready = new Promise<void>((resolve, reject) => {
    const take = (data: Buffer) => {
      output += data.toString();
      if (until.test(output)) resolve();
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    void exited.then((end) =>
      reject(new Error(`workron ${args.join(' ')} ended with ${end} before it was up:\n${output}`)),
    );
  });
  await ready;
  return {
    child,
    pid: child.pid as number,
    url: /API\s+(https?:\/\/\S+)/.exec(output)?.[1] ?? '',
    output: () => output,
    exited,
    signal: (name) => void child.kill(name),
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        const group = -(child.pid as number);
        process.kill(group, 'SIGCONT');
        process.kill(group, 'SIGKILL');
        await exited;
      }
    },
  };
}

/** A new temporary folder, removed when disposed. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'workron-test-'));
  removeOnExit(path);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** True if the process exists and is not a zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  const { readFile } = await import('node:fs/promises');
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

/** Sends a request to the API and returns the JSON reply. Throws unless it succeeds. */
export async function api<T = Record<string, unknown>>(
  url: string,
  path: string,
  body?: unknown,
  method?: string,
): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return (text === '' ? {} : JSON.parse(text)) as T;
}
