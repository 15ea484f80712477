/** Deleting ended jobs and workflows over HTTP: one by one, and all that match. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestServer } from '../kit/http.ts';

type Server = Awaited<ReturnType<typeof openTestServer>>;

async function ended(server: Server, fields: object = {}): Promise<string> {
  const { body } = await server.call('POST', '/jobs', { command: 'true', ...fields });
  await server.call('POST', `/jobs/${body.id}/cancel`);
  return body.id as string;
}

test('DELETE /jobs/ID: returns the job as it was; afterwards there is none', async () => {
  await using server = await openTestServer();
  const id = await ended(server, { name: 'old' });
  const { status, body } = await server.call('DELETE', `/jobs/${id}`);
  assert.deepEqual([status, body.id, body.name, body.status], [200, id, 'old', 'cancelled']);
  for (const [method, path] of [
    ['GET', `/jobs/${id}`],
    ['DELETE', `/jobs/${id}`],
    ['GET', `/jobs/${id}/attempts`],
    ['GET', `/jobs/${id}/logs`],
    ['GET', `/jobs/${id}/wait`],
  ] as const) {
    const gone = await server.call(method, path);
    assert.deepEqual([gone.status, gone.body.code], [404, 'job_not_found'], `${method} ${path}`);
  }
  const { body: audit } = await server.call('GET', '/audit');
  assert.deepEqual(
    audit.items
      .map((entry: Record<string, string>) => [entry['action'], entry['subject'], entry['result']])
      .slice(0, 2),
    [
      ['job.delete', `job/${id}`, 'job_not_found'],
      ['job.delete', `job/${id}`, 'ok'],
    ],
  );
});

test('DELETE /jobs/ID: a job that must stay is refused with the reason', async () => {
  await using server = await openTestServer();
  const { body: pending } = await server.call('POST', '/jobs', { command: 'true' });
  const { body: workflow } = await server.call('POST', '/workflows', {
    name: 'etl',
    steps: [{ key: 'load', command: 'true' }],
  });
  const { body: detail } = await server.call('GET', `/workflows/${workflow.id}`);
  const parent = await ended(server);
  await server.call('POST', '/jobs', { command: 'true', depends_on: [{ job: parent, if: 'ended' }] });
  const refused = async (path: string): Promise<[number, string, string]> => {
    const { status, body } = await server.call('DELETE', path);
    return [status, body.code, body.detail];
  };
  assert.deepEqual(await refused(`/jobs/${pending.id}`), [
    409,
    'illegal_transition',
    `Cannot delete job ${pending.id}: it is pending; only ended jobs can be deleted`,
  ]);
  assert.match((await refused(`/jobs/${parent}`))[2], /an unfinished job depends on it/);
  assert.match((await refused(`/workflows/${workflow.id}`))[2], /it is pending; only ended workflows can be deleted/);
  await server.call('POST', `/workflows/${workflow.id}/cancel`);
  const step = detail.steps[0].job_id as string;
  assert.match((await refused(`/jobs/${step}`))[2], new RegExp(`belongs to workflow ${workflow.id}, which is deleted`));

  assert.equal((await server.call('DELETE', `/workflows/${workflow.id}`)).status, 200);
  assert.equal((await server.call('GET', `/workflows/${workflow.id}`)).body.code, 'workflow_not_found');
  assert.equal((await server.call('GET', `/jobs/${step}`)).status, 404);
  assert.equal((await server.call('DELETE', '/jobs/x')).status, 404);
  assert.equal((await server.call('DELETE', `/jobs/${pending.id}`, { force: true })).status, 400);
});

test('bulk delete: counts and deletes ended jobs only', async () => {
  await using server = await openTestServer();
  const kept = [await ended(server, { queue: 'other' })];
  for (let i = 0; i < 3; i += 1) await ended(server, { queue: 'mail' });
  kept.push((await server.call('POST', '/jobs', { command: 'true', queue: 'mail' })).body.id as string);
  const bulk = (filter: object, more: object = {}) =>
    server.call('POST', '/jobs/bulk', { action: 'delete', filter, ...more });

  assert.equal((await bulk({ queue: 'mail' }, { dry_run: true })).body.total, 3);
  const { body, headers } = await bulk({ queue: 'mail' });
  assert.equal(body.total, 3);
  let { operation } = body;
  while (operation.status === 'running') operation = (await server.call('GET', headers.get('location') ?? '')).body;
  assert.deepEqual([operation.action, operation.changed, operation.skipped], ['delete', 3, 0]);
  const { body: left } = await server.call('GET', '/jobs');
  assert.deepEqual(left.items.map(({ id }: { id: string }) => id).sort(), [...kept].sort());

  assert.equal((await bulk({})).status, 400, 'every job needs a word for it');
  const live = await bulk({ status: ['pending', 'running'] });
  assert.deepEqual([live.status, live.body.errors[0].pointer], [400, '/filter/status']);
});

test('a submission that is sent again after its job was deleted does not run twice', async () => {
  await using server = await openTestServer();
  const submit = () => server.call('POST', '/jobs', { command: 'true' }, { 'idempotency-key': 'once' });
  const { body } = await submit();
  await server.call('POST', `/jobs/${body.id}/cancel`);
  await server.call('DELETE', `/jobs/${body.id}`);
  const again = await submit();
  assert.deepEqual([again.status, again.body.code], [404, 'job_not_found']);
  assert.equal((await server.call('GET', '/jobs')).body.items.length, 0);
});
