/** The tests clean up after themselves, even one that is killed. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { Child } from '../kit/child.ts';
import { eventually } from '../kit/eventually.ts';
import { longSleep, untilAlive } from '../kit/processes.ts';
import { isAlive } from '../kit/workron-process.ts';

function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

test('kill -9 of a test process leaves no Workron, no command, no PostgreSQL and no folder behind', async () => {
  const line = longSleep();
  await using child = Child.script(new URL('../kit/leftovers.ts', import.meta.url), line);
  const said = JSON.parse((await child.line()) ?? '{}') as { folder: string; port: string; url: string; call: number };
  const ports = [Number(said.port), Number(new URL(said.url).port)];
  await untilAlive(line, 1);
  for (const port of ports) assert.ok(await isListening(port));
  assert.ok(existsSync(said.folder));

  await child.kill();
  for (const port of ports) await eventually(async () => !(await isListening(port)));
  await eventually(async () => !existsSync(said.folder));
  await eventually(async () => !(await isAlive(said.call)));
  await untilAlive(line, 0);
});
