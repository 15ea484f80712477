/** Calls of the command line, as a user or a script makes them. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { endOnExit } from './end-on-exit.ts';
import { PROGRAM } from './program.ts';

export interface Called {
  code: number | string;
  stdout: string;
  stderr: string;
}

export interface CallOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  input?: string;
  /** Another program than PROGRAM. */
  command?: string;
}

const INFLUENTIAL = /^(WORKRON_|DATABASE_URL$|PORT$|CI$|TERM$|COLORTERM$|NO_COLOR$|FORCE_COLOR$|NODE_DISABLE_COLORS$)/;

/** The environment without variables that Workron or its colours depend on, plus `env`. */
export function plainEnvironment(env: CallOptions['env'] = {}): NodeJS.ProcessEnv {
  const plain: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!INFLUENTIAL.test(name)) plain[name] = value;
  }
  // The profiles of whoever runs the tests do not count.
  return { ...plain, XDG_CONFIG_HOME: '/dev/null/none', ...env };
}

/** Runs `workron ARGS` to its end. */
export async function callWorkron(args: readonly string[], options: CallOptions = {}): Promise<Called> {
  const child = startCall(args, options);
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  // A command that has ended may not have read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(options.input ?? '');
  const [stdout, stderr, code] = await Promise.all([text(child.stdout as never), text(child.stderr as never), ended]);
  return { code, stdout, stderr };
}

/** Starts `workron ARGS`, for tests that act while it runs. */
export function startCall(args: readonly string[], { env, cwd, command = PROGRAM }: CallOptions = {}) {
  const call = spawn(command, args, {
    env: plainEnvironment(env),
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
  });
  endOnExit('process', call);
  return call;
}
