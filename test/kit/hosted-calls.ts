/** Calls of the command line in a process that many calls share. For tests of what a command does with a server, not of the process. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Called, type CallOptions, plainEnvironment } from './command-line.ts';
import { endOnExit } from './end-on-exit.ts';

export interface HostedCall {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  input: string;
}

const HOST = new URL('./command-host.ts', import.meta.url);
const idle: ChildProcess[] = [];

/** Runs `workron ARGS` to its end, as callWorkron does. A start of Node takes ten times as long as most commands. */
export async function callHosted(
  args: readonly string[],
  { env, cwd = process.cwd(), input = '' }: Omit<CallOptions, 'command'> = {},
): Promise<Called> {
  const host = idle.pop() ?? startHost();
  const call: HostedCall = { args, env: plainEnvironment(env), cwd, input };
  const died = new AbortController();
  const onExit = () => died.abort(new Error(`workron ${args.join(' ')} ended the process that it shares`));
  host.once('exit', onExit);
  host.channel?.ref();
  host.send(call);
  const [called] = (await once(host, 'message', { signal: died.signal })) as [Called];
  host.off('exit', onExit);
  host.channel?.unref();
  idle.push(host);
  return called;
}

/** It ends with this process, and does not keep it alive. */
function startHost(): ChildProcess {
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const host = fork(HOST, { execArgv, stdio: ['pipe', 'ignore', 'inherit', 'ipc'] });
  endOnExit('process', host);
  host.stdin?.end();
  host.unref();
  host.channel?.unref();
  return host;
}
