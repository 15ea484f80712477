/** Remote workers whose process ends without leaving: their launcher reports it. */

import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { listPids, readStat } from '../../src/worker/launcher/process-table.ts';
import { effort } from '../effort.ts';
import { eventually } from '../kit/eventually.ts';
import { startHttpProxy } from '../kit/http-proxy.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const TOKEN = 'token-of-this-test';

interface WireJob {
  id: string;
  status: string;
  attempts: number;
  failures: number;
  error: string | null;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

describe('gone workers', { concurrency: 2 }, () => {
  let url = '';
  let socket = '';
  const shared = new AsyncDisposableStack();
  before(async () => {
    // A lease that outlasts the test: jobs come back only by the report.
    const folder = shared.use(await temporaryFolder()).path;
    socket = join(folder, 'socket');
    const args = ['scheduler', '--port', '0', '--db-url', 'memory:', '--lease', '30m', '--socket', socket];
    url = shared.use(await startWorkron({ args, env: { WORKRON_TOKEN: TOKEN } })).url;
  });
  after(() => shared.disposeAsync());

  const api = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${path} answered ${response.status}`);
    return (await response.json()) as T;
  };
  const startWorker = (queue: string, scheduler = url, isolation: readonly string[] = []) =>
    startWorkron({
      args: ['worker', '--scheduler', scheduler, '--workers', '2', '--queues', queue, ...isolation],
      env: { WORKRON_TOKEN: TOKEN },
    });
  const job = (id: string) => api<WireJob>(`/jobs/${id}`);
  const done = (id: string) =>
    eventually(async () => {
      const found = await job(id);
      return found.status === 'done' && found;
    });

  for (const queue of ['killed', 'killed-over-a-socket']) {
    const start = () => startWorker(queue, queue === 'killed' ? url : `unix:${socket}`);

    test(`kill -9 of a worker: the jobs of ${queue} go back as soon as their commands are gone, except those that finish without contact`, {
      timeout: 120_000,
    }, async () => {
      await using folder = await temporaryFolder();
      await using first = await start();
      const line = (name: string) =>
        [
          `cd ${folder.path}`,
          `exec 9>>lock.${name}`,
          'flock -n 9 || echo overlap >> overlap',
          `touch ${name}.$WORKRON_ATTEMPT`,
          // A detached process of the tree holds the lock too.
          'if [ $WORKRON_ATTEMPT = 1 ]; then setsid sleep 300 & sleep 300; fi',
        ].join('; ');
      const stops = await api<WireJob>('/jobs', { command: line('stops'), queue });
      const finishes = await api<WireJob>('/jobs', {
        command: line('finishes'),
        queue,
        on_disconnect: 'finish',
      });
      await eventually(() => exists(join(folder.path, 'stops.1')));
      await eventually(() => exists(join(folder.path, 'finishes.1')));
      await using _second = await start();
      first.signal('SIGKILL');

      const ended = await done(stops.id);
      assert.deepEqual([ended.attempts, ended.failures], [2, 1]);
      const { items } = await api<{ items: { outcome: string; error: string }[] }>(`/jobs/${stops.id}/attempts`);
      assert.deepEqual([items[0]?.outcome, items[0]?.error], ['lost', 'the process of the worker ended']);
      assert.equal(await exists(join(folder.path, 'overlap')), false);
      assert.deepEqual([(await job(finishes.id)).status, (await job(finishes.id)).attempts], ['running', 1]);
      const { items: workers } = await api<{ items: { state: string; queues: string[] }[] }>('/workers');
      const states = workers.filter(({ queues }) => queues.includes(queue)).map(({ state }) => state);
      assert.deepEqual(states.toSorted(), ['offline', 'online']);
    });
  }

  test('the token is neither in the environment nor in the arguments of the launcher or a command', {
    timeout: effort.waitMs,
  }, async () => {
    await using folder = await temporaryFolder();
    // In a namespace, a command does not see the launcher.
    await using _ = await startWorker('curious', url, ['--pid-namespace', 'off']);
    const pid = "$(sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 2)";
    const command = [
      `cat /proc/${pid}/environ /proc/${pid}/cmdline > ${folder.path}/seen`,
      `env >> ${folder.path}/seen`,
      `tr '\\0' ' ' < /proc/${pid}/cmdline > ${folder.path}/parent`,
    ].join('; ');
    const { id } = await api<WireJob>('/jobs', { command, queue: 'curious' });
    await done(id);
    assert.match(await readFile(join(folder.path, 'parent'), 'utf8'), /workron launcher|main/);
    assert.equal((await readFile(join(folder.path, 'seen'), 'latin1')).includes(TOKEN), false);
  });

  test('a launcher reports nothing while another one of the same worker has a command', {
    timeout: effort.waitMs,
  }, async () => {
    await using folder = await temporaryFolder();
    await using worker = await startWorker('alone', url, ['--pid-namespace', 'off']);
    // The second attempt has a launcher of its own, and takes its time to end.
    const command = `[ $WORKRON_ATTEMPT = 1 ] && kill -9 $PPID; trap '' TERM; touch ${folder.path}/on-$WORKRON_ATTEMPT; while :; do sleep 1; done`;
    const { id } = await api<WireJob>('/jobs', { command, queue: 'alone', kill_grace: '8s' });
    await eventually(() => exists(join(folder.path, 'on-2')));
    // The launcher for all commands is started again when it is needed.
    await done((await api<WireJob>('/jobs', { command: 'true', queue: 'alone' })).id);
    worker.signal('SIGKILL');
    await worker.exited;
    await sleep(4_000);
    assert.deepEqual([(await job(id)).status, (await job(id)).attempts], ['running', 2]);
  });

  test('a worker that leaves, with or without jobs to give back, reports nothing', {
    timeout: effort.waitMs,
  }, async () => {
    await using folder = await temporaryFolder();
    await using proxy = await startHttpProxy(url);
    const paths: string[] = [];
    proxy.judge = (_method, path) => {
      paths.push(path);
      return 'pass';
    };
    await using worker = await startWorker('leaving', proxy.url);
    const { id } = await api<WireJob>('/jobs', { command: `touch ${folder.path}/on; sleep 2`, queue: 'leaving' });
    await eventually(() => exists(join(folder.path, 'on')));
    worker.signal('SIGTERM');
    assert.equal(await worker.exited, 0);
    assert.equal((await job(id)).status, 'done');
    assert.ok(paths.some((path) => path.endsWith('/leave')));
    assert.deepEqual(
      paths.filter((path) => path.endsWith('/gone')),
      [],
    );
  });

  test('kill -9 of a worker and its launcher: nobody reports, and its jobs stay until the lease ends', {
    timeout: effort.waitMs,
  }, async () => {
    await using folder = await temporaryFolder();
    await using first = await startWorker('both');
    const held = await api<WireJob>('/jobs', { command: `touch ${folder.path}/on; sleep 300`, queue: 'both' });
    await eventually(() => exists(join(folder.path, 'on')));
    const launchers = listPids().filter((pid) => readStat(pid)?.parent === first.pid);
    assert.equal(launchers.length, 1);
    // Frozen, it cannot see the launcher die before it does: it would report that its command was interrupted.
    first.signal('SIGSTOP');
    await eventually(async () => / T /.test(await readFile(`/proc/${first.pid}/stat`, 'utf8')));
    for (const pid of [...launchers, first.pid]) process.kill(pid, 'SIGKILL');
    await first.exited;
    await using _second = await startWorker('both');
    for (let jobs = 0; jobs < 3; jobs += 1) {
      await done((await api<WireJob>('/jobs', { command: 'sleep 1', queue: 'both' })).id);
    }
    const { status, attempts } = await job(held.id);
    assert.deepEqual([status, attempts], ['running', 1]);
  });

  test('a report whose answer is lost is sent again', { timeout: effort.waitMs }, async () => {
    await using folder = await temporaryFolder();
    await using proxy = await startHttpProxy(url);
    let reports = 0;
    proxy.judge = (_method, path) => (path.endsWith('/gone') && (reports += 1) <= 2 ? 'lose answer' : 'pass');
    await using worker = await startWorker('unlucky', proxy.url);
    const { id } = await api<WireJob>('/jobs', { command: `touch ${folder.path}/on; sleep 300`, queue: 'unlucky' });
    await eventually(() => exists(join(folder.path, 'on')));
    worker.signal('SIGKILL');
    await eventually(() => reports === 3);
    const { status, failures } = await job(id);
    assert.deepEqual([status, failures], ['pending', 1]);
  });
});
