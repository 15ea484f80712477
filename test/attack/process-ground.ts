/** Grounds that are real processes: the program as it is published, on the Node of the project and on the oldest that is promised. */

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildProgram } from '../kit/program.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';
import { ADMIN_TOKEN } from './attack.ts';
import { type Ground, targetAt } from './ground.ts';

const OLDEST_NODE = '22';

/** A ground that is not there. */
export class Skipped extends Error {}

let built: Promise<string> | undefined;

/** Starts the built program with a Node. */
export async function startBuilt(node: string, args: readonly string[]): Promise<WorkronProcess> {
  built ??= buildProgram();
  const main = join(dirname(await built), '..', 'dist', 'cli.js');
  return await startWorkron({ command: node, args: [main, ...args], ownToken: true });
}

/** The oldest Node, installed into this folder when it is needed. */
export function oldestNode(): string {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = import.meta.dirname;
  const node = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(node)) return node;
  const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['install', '--prefix', folder, ...flags, `${name}@${OLDEST_NODE}`]);
  if (status === 0 && existsSync(node)) return node;
  throw new Skipped(`Node ${OLDEST_NODE} was not tried: npm could not install ${name}@${OLDEST_NODE} into ${folder}`);
}

/** The files of an installation whose server needs the token of the attacks, and the flags that name them. */
export async function installIn(folder: string): Promise<string[]> {
  await writeFile(join(folder, 'keys'), randomBytes(32).toString('base64'), { mode: 0o600 });
  await writeFile(join(folder, 'token'), ADMIN_TOKEN, { mode: 0o600 });
  const files = ['--db-url', join(folder, 'jobs.db'), '--secrets-key-file', join(folder, 'keys')];
  return [...files, '--token-file', join(folder, 'token'), '--log-level', 'error'];
}

async function processGround(stack: AsyncDisposableStack, node: string): Promise<Ground> {
  const folder = stack.use(await temporaryFolder()).path;
  const flags = await installIn(folder);
  const start = (port: number) => startBuilt(node, ['scheduler', '--port', String(port), ...flags]);
  const free = ['scheduler', '--port', '0', '--db-url', 'memory:', '--insecure-no-token', '--log-level', 'error'];
  const open = stack.use(await startBuilt(node, free));
  let guarded = await start(0);
  stack.defer(() => guarded[Symbol.asyncDispose]());
  const port = Number(new URL(guarded.url).port);
  return {
    open: targetAt(Number(new URL(open.url).port)),
    guarded: targetAt(port),
    // One process owns the file: from then on, everything is tried after the restart.
    async again() {
      guarded.signal('SIGTERM');
      await guarded.exited;
      guarded = await start(port);
      return targetAt(port);
    },
  };
}

export const NODE_GROUNDS: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<Ground>>> = {
  'a process': (stack) => processGround(stack, process.execPath),
  [`a process on Node ${OLDEST_NODE}`]: async (stack) => processGround(stack, oldestNode()),
};
