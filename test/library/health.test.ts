/** Parts of a process that die: somebody is told. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { job, open } from '../../src/index.ts';
import { systemClock } from '../../src/ops/clock.ts';
import { openMemory } from '../../src/store/memory/open.ts';
import type { Store } from '../../src/store/store.ts';

/** Duties hold what they have to dispose of in a `Disposables`; on memory, nobody else does. */
const WITHOUT_DUTIES = `data:text/javascript,${encodeURIComponent(
  `import { Disposables } from '${import.meta.resolve('../../src/ops/disposables.ts')}';
  Disposables.prototype.use = () => { throw new Error('no duties here'); };`,
)}`;

test('health: duties that die are told to onError, to health() and to the mounted API; jobs still run', async () => {
  const store: Store = {
    ...openMemory({ clock: systemClock }),
    fenced: () => {
      throw new Error('this store is broken');
    },
  };
  const died = Promise.withResolvers<Error>();
  await using workron = await open(store, { log: 'silent', onError: (error) => died.resolve(error) });
  assert.deepEqual(workron.health(), { healthy: true, problems: [] });
  const quick = job('quick', { run: () => 'ran' });
  await workron.start({ jobs: [quick] });
  assert.equal((await died.promise).message, 'this store is broken');
  assert.deepEqual(workron.health(), { healthy: false, problems: ['the duties died: this store is broken'] });
  const { fetch } = await workron.mount();
  const answer = await fetch(new Request('http://localhost/health'));
  assert.equal(answer.status, 503);
  assert.deepEqual(((await answer.json()) as { stuck: string[] }).stuck, ['duties']);
  assert.equal(await (await workron.submit(quick)).result(), 'ran');
});

test('health: a process whose duties die shuts down and exits with 1', async () => {
  const main = fileURLToPath(import.meta.resolve('../../src/cli/main.ts'));
  const args = ['--import', WITHOUT_DUTIES, main, 'up', '--db-url', 'memory:', '--port', '0'];
  const up = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const [log, [code]] = await Promise.all([text(up.stderr), once(up, 'exit') as Promise<[number | null]>]);
  assert.match(log, /the duties of this process have died; shutting down/);
  assert.equal(code, 1);
});

test('health: open refuses a runtime on which the duties could not run', async (t) => {
  t.mock.property(process, 'versions', { ...process.versions, node: '22.19.0' });
  await assert.rejects(open('memory:'), { code: 'bad_request', message: /Workron needs Node 22\.20, 24\.7 or newer/ });
});
