/** Starting and stopping as a person or an init system does it. */

import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { api, startWorkron, temporaryFolder, type WorkronProcess } from '../kit/workron-process.ts';

const root = join(import.meta.dirname, '..', '..');

function started(folder: string): Promise<boolean> {
  return eventually(() =>
    stat(join(folder, 'on')).then(
      () => true,
      () => undefined,
    ),
  );
}

/** Resolves when the process has said that it took a signal, and would take another as the next. */
async function taken(up: WorkronProcess, step: RegExp): Promise<void> {
  await eventually(() => step.test(up.output()));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
}

describe('signals', { concurrency: 2 }, () => {
  test('SIGTERM to npm start: the running job finishes, then exit 0', { timeout: effort.waitMs }, async () => {
    await using folder = await temporaryFolder();
    const db = join(folder.path, 'jobs.db');
    const args = ['start', '--', '--port', '0', '--db-url', db];
    await using first = await startWorkron({ command: 'npm', args, cwd: root });
    const { id } = await api<{ id: string }>(first.url, '/jobs', { command: `touch ${folder.path}/on; sleep 2` });
    await started(folder.path);
    first.signal('SIGTERM');
    assert.equal(await first.exited, 0);

    await using again = await startWorkron({ command: 'npm', args, cwd: root });
    const job = await api<{ status: string; attempts: number }>(again.url, `/jobs/${id}`);
    assert.deepEqual([job.status, job.attempts], ['done', 1]);
  });

  test('SIGTERM with nothing running: exit 0 at once', { timeout: 30_000 }, async () => {
    await using up = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:'] });
    up.signal('SIGTERM');
    assert.equal(await up.exited, 0);
  });

  test('a third signal ends the process without waiting for a command that ignores SIGTERM', {
    timeout: effort.waitMs,
  }, async () => {
    await using folder = await temporaryFolder();
    await using up = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:'] });
    const command = `trap '' TERM INT; touch ${folder.path}/on; while :; do sleep 1; done`;
    await api(up.url, '/jobs', { command, kill_grace: '1h' });
    await started(folder.path);
    for (const step of [/shutting down/, /stopping running jobs now/]) {
      up.signal('SIGTERM');
      await taken(up, step);
    }
    up.signal('SIGTERM');
    assert.equal(await up.exited, 1);
  });

  test('not ready while it drains; a second signal stops the job, which is given back uncharged', {
    timeout: effort.waitMs,
  }, async () => {
    await using folder = await temporaryFolder();
    const db = join(folder.path, 'jobs.db');
    const args = ['up', '--port', '0', '--db-url', db];
    await using up = await startWorkron({ args });
    const { id } = await api<{ id: string }>(up.url, '/jobs', {
      command: `touch ${folder.path}/on; [ $WORKRON_ATTEMPT -gt 1 ] || sleep 300`,
    });
    await started(folder.path);
    // What npm does to a terminal's Ctrl-C: a second signal within the same second is no second wish. A frozen process takes both at once.
    for (const name of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) up.signal(name);
    await eventually(async () => (await fetch(`${up.url}/ready`)).status === 503);
    await taken(up, /shutting down/);
    assert.equal((await fetch(`${up.url}/health`)).status, 200);
    up.signal('SIGINT');
    assert.equal(await up.exited, 0);

    await using again = await startWorkron({ args });
    const job = await eventually(async () => {
      const found = await api<{ status: string; failures: number; interruptions: number }>(again.url, `/jobs/${id}`);
      return found.status === 'done' && found;
    });
    assert.deepEqual([job.failures, job.interruptions], [0, 1]);
  });

  test('--drain-timeout cuts a drain short', { timeout: effort.waitMs }, async () => {
    await using folder = await temporaryFolder();
    await using up = await startWorkron({
      args: ['up', '--port', '0', '--db-url', join(folder.path, 'jobs.db'), '--drain-timeout', '500ms'],
    });
    await api(up.url, '/jobs', { command: `touch ${folder.path}/on; sleep 300` });
    await started(folder.path);
    up.signal('SIGTERM');
    assert.equal(await up.exited, 0);
  });
});
