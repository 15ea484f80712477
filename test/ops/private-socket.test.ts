/** Which sockets a client sends its token to, and where a server makes one. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, chownSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkSocket, prepareSocket, UnsafeSocketError } from '../../src/ops/private-socket.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const OTHER = 65_533;
const THIRD = 65_532;
const NOT_ROOT = process.getuid?.() === 0 ? false : 'needs root, to have folders of other users';

/** A folder that only root can write to, and in it a folder with a socket. */
async function setUp() {
  const stack = new AsyncDisposableStack();
  const root = stack.use(await temporaryFolder()).path;
  chmodSync(root, 0o755);
  const listen = async (path: string): Promise<Server> => {
    const server = createServer().listen(path);
    stack.defer(() => void server.close());
    await once(server, 'listening');
    return server;
  };
  const folder = join(root, 'run');
  mkdirSync(folder, { mode: 0o755 });
  const socket = join(folder, 'socket');
  await listen(socket);
  return { root, folder, socket, listen, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const refuses = (path: string, why: RegExp) =>
  assert.throws(
    () => checkSocket(path),
    (error: Error) => error instanceof UnsafeSocketError && why.test(error.message),
  );

test('private socket: one in a folder that nobody else can write to is used', async () => {
  await using scene = await setUp();
  checkSocket(scene.socket);
  symlinkSync(scene.folder, join(scene.root, 'link'));
  checkSocket(join(scene.root, 'link', 'socket'));
  assert.throws(() => checkSocket(join(scene.folder, 'none')), { code: 'ENOENT' });
  writeFileSync(join(scene.folder, 'file'), '');
  refuses(join(scene.folder, 'file'), /is no socket/);
});

test('private socket: one that others could replace is refused', async () => {
  await using scene = await setUp();
  const { root, folder, socket } = scene;
  for (const mode of [0o775, 0o757, 0o777, 0o2775]) {
    chmodSync(folder, mode);
    refuses(socket, /other users can write to/);
  }
  chmodSync(folder, 0o755);
  chmodSync(root, 0o777);
  refuses(socket, /other users can write to/);
  symlinkSync(folder, join(folder, '..', 'link'));
  refuses(join(root, 'link', 'socket'), /other users can write to/);
});

test('private socket: one of another user is used only in that user’s folder', { skip: NOT_ROOT }, async () => {
  await using scene = await setUp();
  const { root, folder, socket } = scene;
  chownSync(folder, OTHER, OTHER);
  checkSocket(socket);
  chownSync(socket, OTHER, OTHER);
  checkSocket(socket);
  chownSync(socket, THIRD, THIRD);
  refuses(socket, /belongs to another user/);
  chownSync(folder, 0, 0);
  refuses(socket, /belongs to another user/);
  chownSync(socket, OTHER, OTHER);
  chownSync(folder, OTHER, OTHER);
  // Everybody could have made such a folder here.
  chmodSync(root, 0o1777);
  refuses(socket, /run belongs to another user/);
  chownSync(folder, 0, 0);
  chownSync(socket, 0, 0);
  checkSocket(socket);
  symlinkSync(folder, join(root, 'link'));
  checkSocket(join(root, 'link', 'socket'));
  const { lchownSync } = await import('node:fs');
  lchownSync(join(root, 'link'), OTHER, OTHER);
  refuses(join(root, 'link', 'socket'), /link belongs to another user/);
});

test('private socket: a server makes its own in a folder of its own, and replaces only what nobody listens on', async () => {
  await using scene = await setUp();
  const { root, folder, socket } = scene;
  await prepareSocket(join(folder, 'new'));
  await assert.rejects(prepareSocket(socket), /another server listens/);
  writeFileSync(join(folder, 'file'), '');
  await assert.rejects(prepareSocket(join(folder, 'file')), /is no socket/);
  await assert.rejects(prepareSocket(join(folder, 'x'.repeat(101))), /longer than/);
  await assert.rejects(prepareSocket(join(root, 'none', 'new')), { code: 'ENOENT' });
  await assert.rejects(prepareSocket(join(folder, 'file', 'new')), /is no folder/);
  chmodSync(folder, 0o1777);
  await assert.rejects(prepareSocket(join(folder, 'new')), /other users can write/);
  chmodSync(folder, 0o755);
  if (!NOT_ROOT) {
    chownSync(folder, OTHER, OTHER);
    await assert.rejects(prepareSocket(join(folder, 'new')), /belongs to another user/);
  }
});

test('private socket: what a killed server left is removed', async () => {
  await using scene = await setUp();
  const { spawnSync } = await import('node:child_process');
  const left = join(scene.folder, 'left');
  const script = `require('node:net').createServer().listen(${JSON.stringify(left)}, () => process.kill(process.pid, 'SIGKILL'))`;
  spawnSync(process.execPath, ['-e', script]);
  assert.ok(lstatSync(left).isSocket());
  await prepareSocket(left);
  assert.equal(lstatSync(left, { throwIfNoEntry: false }), undefined);
});
