/** Callers that are restricted to queues: what they must not change in others, by whatever way. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestServer, type TestServer } from '../kit/http.ts';

const ADMIN = { authorization: 'Bearer a-configured-token-of-many-characters' };

interface Team {
  server: TestServer;
  admin: (method: string, path: string, body?: unknown) => ReturnType<TestServer['call']>;
  /** With a token for the queue `mine`. */
  mine: Team['admin'];
}

async function withTeam(run: (team: Team) => Promise<void>, role = 'submitter'): Promise<void> {
  await using server = await openTestServer({ token: 'a-configured-token-of-many-characters' });
  const admin: Team['admin'] = (method, path, body) => server.call(method, path, body, ADMIN);
  const { body } = await admin('POST', '/tokens', { name: 'me', role, queues: ['mine'] });
  const headers = { authorization: `Bearer ${body.token}` };
  await run({ server, admin, mine: (method, path, sent) => server.call(method, path, sent, headers) });
}

const job = (queue: string, more: object = {}) => ({ queue, command: `echo ${queue}`, ...more });

test('restricted: a unique key does not replace or stop a job of another queue', async () => {
  await withTeam(async ({ admin, mine }) => {
    const key = (on_conflict: string) => ({ unique: { key: 'report', on_conflict } });
    const { body: theirs } = await admin('POST', '/jobs', job('theirs', { delay: '1h', ...key('existing') }));
    for (const way of ['replace', 'supersede', 'after']) {
      for (const body of [job('mine', key(way)), [job('mine'), job('mine', key(way))]]) {
        const { status, body: problem } = await mine('POST', '/jobs', body);
        assert.deepEqual([status, problem.code], [409, 'unique_conflict'], way);
        assert.match(problem.detail, /of the queue theirs, which you may not use/);
      }
    }
    const { body: after } = await admin('GET', `/jobs/${theirs.id}`);
    assert.deepEqual([after.queue, after.command, after.status], ['theirs', 'echo theirs', 'scheduled']);
    assert.equal((await mine('GET', '/jobs?queue=mine')).body.items.length, 0);
    // Within its own queues everything is as for others, and nobody else is restricted.
    const { body: own } = await mine('POST', '/jobs', job('mine', { delay: '1h', unique: { key: 'mine' } }));
    const replaced = await mine(
      'POST',
      '/jobs',
      job('mine', { delay: '2h', unique: { key: 'mine', on_conflict: 'replace' } }),
    );
    assert.deepEqual([replaced.status, replaced.body.id], [201, own.id]);
    assert.equal((await admin('POST', '/jobs', job('other', { delay: '1h', ...key('replace') }))).body.id, theirs.id);
  });
});

test('restricted: a stored workflow of other queues is neither replaced nor read as source nor run', async () => {
  await withTeam(async ({ admin, mine }) => {
    const source = (queue: string) =>
      `name: etl\nsteps:\n  - key: a\n    queue: ${queue}\n    command: echo a\n    env: { PW: hidden }\n`;
    assert.equal((await admin('PUT', '/definitions/etl', { source: source('theirs') })).status, 200);
    assert.equal((await mine('PUT', '/definitions/etl', { source: source('mine') })).status, 403);
    assert.equal((await mine('PUT', '/definitions/etl', { source: source('mine'), dry_run: true })).status, 403);
    assert.equal((await mine('GET', '/definitions/etl/source')).status, 403);
    assert.equal((await mine('POST', '/definitions/etl/run', {})).status, 403);
    assert.equal((await admin('GET', '/definitions/etl')).body.version, 1);
    const own = source('mine').replace('name: etl', 'name: own');
    assert.equal((await mine('PUT', '/definitions/own', { source: own })).status, 200);
    assert.equal((await mine('GET', '/definitions/own/source')).body.source, own);
    assert.equal((await mine('POST', '/definitions/own/run', {})).status, 201);
  });
});

test('restricted: workflows, reruns and schedules stay in the queues of the caller', async () => {
  await withTeam(async ({ admin, mine }) => {
    const steps = (queue: string) => [
      { key: 'a', queue: 'mine', command: 'echo a' },
      { key: 'b', queue, command: 'echo b', depends_on: ['a'] },
    ];
    assert.equal((await mine('POST', '/workflows', { name: 'w', steps: steps('theirs') })).status, 403);
    const { body: theirs } = await admin('POST', '/workflows', { name: 'w', steps: steps('theirs') });
    assert.equal((await mine('POST', `/workflows/${theirs.id}/rerun`, { from: 'a' })).status, 403);
    const { body: single } = await admin('POST', '/jobs', job('theirs'));
    assert.equal((await mine('POST', `/jobs/${single.id}/rerun`)).status, 403);
    for (const change of ['cancel', 'retry']) {
      assert.equal((await mine('POST', `/jobs/${single.id}/${change}`)).status, 403);
      assert.equal((await mine('POST', `/workflows/${theirs.id}/${change}`)).status, 403);
    }

    // A command that notifies runs in a queue of its own, also for what runs again.
    const notify = [{ on: ['failed'], command: 'true' }];
    const { body: loud } = await admin('POST', '/workflows', { name: 'loud', notify, steps: steps('mine') });
    assert.equal((await mine('POST', `/workflows/${loud.id}/rerun`, { from: 'a' })).status, 403);
    const { body: loudJob } = await admin('POST', '/jobs', job('mine', { notify }));
    assert.equal((await mine('POST', `/jobs/${loudJob.id}/rerun`)).status, 403);

    await admin('PUT', '/schedules/nightly', { every: '1h', job: job('theirs') });
    for (const [method, path, body] of [
      ['PUT', '/schedules/nightly', { every: '1h', job: job('mine') }],
      ['PATCH', '/schedules/nightly', { job: { queue: 'mine' } }],
      ['POST', '/schedules/nightly/run', {}],
      ['POST', '/schedules/nightly/backfill', { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }],
      ['PUT', '/schedules/new', { every: '1h', job: job('theirs') }],
      ['PUT', '/schedules/new', { every: '1h', workflow: { name: 'w', steps: steps('theirs') } }],
    ] as const) {
      assert.equal((await mine(method, path, body)).status, 403, `${method} ${path}`);
    }
    // A job may wait for one of another queue: that changes nothing there.
    const { status } = await mine('POST', '/jobs', job('mine', { depends_on: [single.id] }));
    assert.equal(status, 201);
  });
});

test('restricted: definitions and schedules name the queues that their runs need', async () => {
  await withTeam(async ({ admin, mine }) => {
    const queuesAt = async (path: string) => (await mine('GET', path)).body.queues;
    const notify = [{ on: ['failed'], command: 'true' }];
    const steps = 'steps:\n  a: {command: echo a, queue: mine}\n  b: {command: echo b}\n';
    await admin('PUT', '/definitions/plain', { source: `name: plain\n${steps}` });
    assert.deepEqual(await queuesAt('/definitions/plain'), ['default', 'mine']);
    const loud = `name: loud\nnotify: ${JSON.stringify(notify)}\nsteps:\n  a: {command: echo a, queue: mine}\n`;
    await admin('PUT', '/definitions/loud', { source: loud });
    assert.deepEqual(await queuesAt('/definitions/loud'), ['mine', 'workron.notify']);
    assert.equal((await mine('POST', '/definitions/loud/run', {})).status, 403);

    await admin('PUT', '/schedules/job', { every: '1h', job: job('mine') });
    assert.deepEqual(await queuesAt('/schedules/job'), ['mine']);
    await admin('PUT', '/schedules/stored', { every: '1h', definition: { name: 'plain' } });
    assert.deepEqual(await queuesAt('/schedules/stored'), ['default', 'mine']);
    assert.equal((await mine('POST', '/schedules/stored/run', {})).status, 403);
    await admin('PUT', '/schedules/loud', { every: '1h', job: job('mine'), notify });
    assert.deepEqual(await queuesAt('/schedules/loud'), ['mine', 'workron.notify']);
    assert.equal((await mine('POST', '/schedules/loud/run', {})).status, 403);
    assert.equal((await mine('POST', '/schedules/job/run', {})).status, 201);
  });
});

test('restricted: a worker claims from its queues only, as itself, and sees the environment of what it holds only', async () => {
  await withTeam(async ({ admin, mine }) => {
    const { body: theirs } = await admin('POST', '/jobs', job('theirs', { env: { PW: 'theirs' } }));
    const { body: own } = await admin('POST', '/jobs', job('mine', { env: { PW: 'mine' } }));
    const { body: other } = await admin('POST', '/workers/register', { name: 'other', queues: ['theirs'] });
    assert.equal((await mine('POST', '/workers/register', { name: 'w', queues: ['theirs'] })).status, 403);
    const { body: me } = await mine('POST', '/workers/register', { name: 'w' });
    const claims = (worker_id: string, more: object = {}) =>
      mine('POST', '/jobs/claim', { worker_id, limit: 10, ...more });
    assert.equal((await claims(me.worker_id, { queues: ['theirs'] })).status, 403);
    assert.equal((await claims(other.worker_id)).status, 403);
    const { body: claimed } = await claims(me.worker_id);
    assert.deepEqual(
      claimed.items.map(({ id, env }: { id: string; env: object }) => [id, env]),
      [[own.id, { PW: 'mine' }]],
    );
    assert.ok(!JSON.stringify(claimed).includes(theirs.id === own.id ? '-' : 'theirs'));
    for (const path of [`/jobs/${theirs.id}`, `/jobs/${own.id}`, '/jobs', `/jobs/${theirs.id}/logs`]) {
      assert.equal((await mine('GET', path)).status, 403, path);
    }
    for (const what of ['heartbeat', 'leave', 'settle', 'report', 'gone']) {
      const { status } = await mine('POST', `/workers/${other.worker_id}/${what}`, {});
      assert.ok(status === 403 || status === 400, `${what}: ${status}`);
    }
    const { body: taken } = await admin('POST', '/jobs/claim', { worker_id: other.worker_id });
    const settle = { worker_id: other.worker_id, attempt: taken.items[0].attempt };
    assert.equal((await mine('POST', `/jobs/${theirs.id}/done`, settle)).status, 403);
    const asMe = { worker_id: me.worker_id, attempt: taken.items[0].attempt };
    assert.equal((await mine('POST', `/jobs/${theirs.id}/done`, asMe)).status, 409);
    assert.equal((await admin('GET', `/jobs/${theirs.id}`)).body.status, 'running');
  }, 'worker');
});

test('submitted_by: jobs, steps and workflows name their caller, also when they run again', async () => {
  await withTeam(async ({ admin, mine }) => {
    const { body: own } = await mine('POST', '/jobs', job('mine'));
    assert.equal(own.submitted_by, 'me');
    const { body: both } = await mine('POST', '/jobs', [job('mine'), job('mine')]);
    assert.deepEqual(
      both.items.map(({ submitted_by }: { submitted_by: string }) => submitted_by),
      ['me', 'me'],
    );
    assert.equal((await mine('POST', '/jobs', job('mine', { submitted_by: 'ada' }))).status, 400, 'it cannot be given');
    assert.equal((await admin('GET', `/jobs/${own.id}`)).body.submitted_by, 'me');
    assert.equal((await admin('POST', `/jobs/${own.id}/rerun`)).body.submitted_by, 'token');
    const steps = [{ key: 'a', queue: 'mine', command: 'true', for_each: [1, 2] }];
    const { body: workflow } = await mine('POST', '/workflows', { name: 'w', steps });
    assert.equal(workflow.submitted_by, 'me');
    const { body: listed } = await admin('GET', `/jobs?workflow_id=${workflow.id}`);
    assert.ok(listed.items.length > 0);
    for (const item of listed.items) assert.equal(item.submitted_by, 'me');
    assert.equal((await admin('GET', '/workflows')).body.items[0].submitted_by, 'me');
    const { body: again } = await admin('POST', `/workflows/${workflow.id}/rerun`, { from: 'a' });
    assert.equal(again.submitted_by, 'token');
  });
});

test('submitted_by: nobody has a name on a server without a token', async () => {
  await using server = await openTestServer();
  assert.equal((await server.call('POST', '/jobs', job('mine'))).body.submitted_by, null);
});

test('history: says who cancelled, retried and edited', async () => {
  await withTeam(async ({ admin }) => {
    const { body: made } = await admin('POST', '/jobs', job('mine', { delay: '1h' }));
    await admin('PATCH', `/jobs/${made.id}`, { priority: 5 });
    await admin('POST', `/jobs/${made.id}/cancel`);
    await admin('POST', `/jobs/${made.id}/retry`);
    assert.equal((await admin('POST', `/jobs/${made.id}/retry`)).status, 409);
    const { body: history } = await admin('GET', `/jobs/${made.id}/history`);
    const changes = history.items.filter(({ event }: { event: string }) => event === 'changed');
    assert.deepEqual(
      changes.map(({ text, by }: { text: string; by: string }) => [text, by]),
      [
        ['edited by token', 'token'],
        ['cancelled by token', 'token'],
        ['retried by token', 'token'],
      ],
    );
    assert.equal(history.items[0].by, 'token');
  });
});
