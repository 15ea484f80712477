/** Servers of root whose commands run as another user, in the states that a server comes to. They need root. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventually } from '../kit/eventually.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';
import { ADMIN_TOKEN, type Make } from './attack.ts';
import { jobAttacks, launchersOf, machineAttacks, run, type Target } from './machine-attacks.ts';
import { installIn, oldestNode, startBuilt } from './process-ground.ts';

export { whyNoOtherUser } from './machine-attacks.ts';

type Stack = AsyncDisposableStack;
type Start = (args: readonly string[]) => Promise<WorkronProcess>;
interface Scene {
  stack: Stack;
  start: Start;
  /** Flags of the server, and those that all workers have. */
  flags: readonly string[];
  isolation: readonly string[];
  folder: string;
}

async function serve({ stack, start, flags, isolation, folder }: Scene): Promise<Target> {
  const server = stack.use(await start(['up', '--port', '0', ...flags, ...isolation]));
  const target = { pid: server.pid, folder, url: server.url };
  await works(target);
  return target;
}

/** Commands run: else every job fails, and the attacks prove nothing. */
async function works(target: Target): Promise<void> {
  assert.equal(await run(target, ADMIN_TOKEN, { command: 'true' }), 'done');
}

/** How a server comes to its state. */
const STATES: Record<string, (scene: Scene) => Promise<Target>> = {
  'run-as': serve,
  async 'run-as after a launcher was killed'(scene) {
    const target = await serve(scene);
    const killed = launchersOf(target.pid);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await eventually(() => !launchersOf(target.pid).some((pid) => killed.includes(pid)));
    // The next command starts another.
    await works(target);
    return target;
  },
  async 'run-as by a worker beside others'(scene) {
    const { stack, start, flags, isolation, folder } = scene;
    const server = stack.use(await start(['scheduler', '--port', '0', ...flags]));
    const token = ['--token-file', join(folder, 'token')];
    const worker = ['worker', '--scheduler', server.url, ...token, ...isolation, '--log-level', 'error'];
    stack.use(await start(worker));
    const { pid } = stack.use(await start(worker));
    const target = { pid, folder, url: server.url };
    await works(target);
    return target;
  },
};

const OFF = ['--pid-namespace', 'off'];

/** `choose` is called when its turn comes. */
function groundOf(state: string, namespace: readonly string[], choose: () => Start) {
  return async (stack: Stack): Promise<Make[]> => {
    const start = choose();
    const folder = stack.use(await temporaryFolder()).path;
    const isolation = ['--run-as', 'nobody', ...namespace];
    const target = await STATES[state]?.({ stack, start, flags: await installIn(folder), isolation, folder });
    assert.ok(target !== undefined);
    return [() => machineAttacks(target), () => jobAttacks(target, ADMIN_TOKEN)];
  };
}

const asItIs = (): Start => (args) => startWorkron({ args, ownToken: true });
const onOldestNode = (): Start => {
  const node = oldestNode();
  return (args) => startBuilt(node, args);
};

export const RUN_AS_GROUNDS: Readonly<Record<string, (stack: Stack) => Promise<Make[]>>> = {
  // Without a namespace, jobs see all processes.
  ...Object.fromEntries(Object.keys(STATES).map((state) => [state, groundOf(state, OFF, asItIs)])),
  'run-as in a PID namespace': groundOf('run-as', [], asItIs),
  ...Object.fromEntries(
    Object.keys(STATES).map((state) => [`${state}, on the oldest Node`, groundOf(state, OFF, onOldestNode)]),
  ),
};
