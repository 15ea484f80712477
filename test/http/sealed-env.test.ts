/** The texts of `env`: sealed in every store if the server has a key, opened for the worker that runs the job, and for nobody else. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import { NEVER } from '../../src/core/never.ts';
import { KeyRing } from '../../src/ops/key-ring.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { made, openWithKeys, RAW_STORES } from '../kit/raw-stores.ts';

const TEXT = 'canary-of-a-text-in-env';
const key = () => randomBytes(32).toString('base64');

const file = (text: string) => `# ${text}\nname: etl\nsteps:\n  - { key: a, command: 'true', env: { A: '${text}' } }\n`;

/** Claims all that is due, and returns the environments by job. */
async function claimAll(server: TestServer): Promise<Map<string, Record<string, string>>> {
  const { worker_id } = await made(server, 'POST', '/workers/register', { name: 'w', slots: 50 });
  const { items } = await made(server, 'POST', '/jobs/claim', { worker_id, limit: 50 });
  return new Map((items as { id: string; env: Record<string, string> }[]).map(({ id, env }) => [id, env]));
}

for (const [driver, open] of Object.entries(RAW_STORES)) {
  void describe(driver, () => {
    test('env: no text reaches the store in the clear, and workers get it', async () => {
      await using given = await open();
      await using server = await openTestServer({ store: given.store, secretKeys: KeyRing.parse(key()) });
      const env = { A: TEXT, B: `${TEXT}-2`, PW: { secret: 'db-password' } };
      await made(server, 'PUT', '/secrets/db-password', { value: 'a-long-password' });
      const job = await made(server, 'POST', '/jobs', { command: 'true', env });
      const again = await made(server, 'POST', `/jobs/${job.id}/rerun`);
      const many = await made(
        server,
        'POST',
        '/jobs',
        Array.from({ length: 3 }, () => ({ command: 'true', env })),
      );
      const workflow = await made(server, 'POST', '/workflows', {
        name: 'w',
        steps: [{ key: 'a', command: 'true', env }],
      });
      await made(server, 'PUT', '/definitions/etl', { source: file(TEXT) });
      const stored = await made(server, 'POST', '/definitions/etl/run', {});
      await made(server, 'PUT', '/schedules/nightly', { every: '1h', job: { command: 'true', env } });
      await made(server, 'PUT', '/schedules/follows', { every: '1h', definition: { name: 'etl' } });
      await made(server, 'PUT', '/definitions/etl', { source: file(`${TEXT}-3`) });
      await made(server, 'PATCH', '/schedules/nightly', { job: { env: { C: `${TEXT}-4`, B: null } } });
      const [tick] = (await made(server, 'POST', '/schedules/nightly/run')).items;
      const [followed] = (await made(server, 'POST', '/schedules/follows/run')).items;

      assert.equal((await given.raw()).includes(TEXT), false, 'the store has it in the clear');
      const specs = await given.store.read([Number(job.id), Number(many.items[0].id)], NEVER);
      assert.notDeepEqual(specs[0]?.env['A'], specs[1]?.env['A'], 'the store shows which values are equal');
      const envs = await claimAll(server);
      const inTheClear = { A: TEXT, B: `${TEXT}-2`, PW: 'a-long-password' };
      for (const { id } of [job, again, ...many.items]) assert.deepEqual(envs.get(id), inTheClear);
      const stepOf = async (id: string) => (await made(server, 'GET', `/workflows/${id}`)).steps[0].job_id as string;
      assert.deepEqual(envs.get(await stepOf(workflow.id)), inTheClear);
      assert.deepEqual(envs.get(await stepOf(stored.id)), { A: TEXT });
      assert.deepEqual(envs.get(tick.job_id), { A: TEXT, C: `${TEXT}-4`, PW: 'a-long-password' });
      assert.deepEqual(envs.get(await stepOf(followed.workflow_id)), { A: `${TEXT}-3` });
      assert.equal((await given.raw()).includes(TEXT), false, 'the store has it in the clear after the claim');
      assert.equal((await made(server, 'GET', '/definitions/etl/source')).source, file(`${TEXT}-3`));
      const names = (await made(server, 'GET', '/secrets')).items.map(({ name }: { name: string }) => name);
      assert.deepEqual(names, ['db-password'], 'the data key is not listed');
    });

    test('env: what is declared again as it was is not changed', async () => {
      await using given = await open();
      const secretKeys = KeyRing.parse(key());
      await using server = await openTestServer({ store: given.store, secretKeys });
      await using other = await openTestServer({ store: given.store, secretKeys, instanceId: 'other' });
      const apply = async (A: string) => {
        const schedules = [
          { name: 'job', every: '1h', job: { command: 'true', env: { A } } },
          {
            name: 'workflow',
            every: '1h',
            workflow: { name: 'w', steps: [{ key: 'a', command: 'true', env: { A } }] },
          },
        ];
        const { items } = await made(server, 'POST', '/schedules/apply', { owner: 'team', schedules });
        return (items as { action: string; fields: string[] }[]).map(({ action, fields }) => [action, ...fields]);
      };
      assert.deepEqual(await apply(TEXT), [['add'], ['add']]);
      assert.deepEqual(await apply(TEXT), [['keep'], ['keep']]);
      assert.deepEqual(await apply('other'), [
        ['change', 'job.env'],
        ['change', 'workflow'],
      ]);
      const put = (text: string) =>
        Promise.all([server, other].map((each) => made(each, 'PUT', '/definitions/etl', { source: file(text) })));
      for (const [index, text] of [TEXT, 'b', 'c', 'd'].entries()) {
        const answers = await put(text);
        assert.deepEqual(
          answers.map(({ version }) => version),
          [index + 1, index + 1],
        );
        assert.equal(answers.filter(({ changed }) => changed).length, 1, 'the same file twice at once is one version');
      }
    });

    test('env: a server without the key says that it cannot read it, and changes nothing', async () => {
      await using given = await open();
      const [old, fresh] = [key(), key()];
      const submit = { command: 'true', env: { A: TEXT }, max_attempts: 1 };
      const withKeys = (...keys: string[]) => openWithKeys(given.store, keys);
      await using first = await withKeys(old);
      await made(first, 'PUT', '/definitions/etl', { source: file(TEXT) });
      for (const [keys, why] of [
        [[], /the value of A in env cannot be read: the process that claims for this worker has no secrets key/],
        [[fresh], /the value of A in env cannot be read: no key of the process that claims for this worker opens it/],
      ] as const) {
        await using server = await withKeys(...keys);
        const { id } = await made(first, 'POST', '/jobs', submit);
        assert.equal((await claimAll(server)).size, 0);
        const failed = await made(server, 'GET', `/jobs/${id}`);
        assert.equal(failed.status, 'failed');
        assert.match(failed.error, why);
        const refused = await server.call('POST', '/definitions/etl/run', {});
        assert.deepEqual([refused.status, refused.body.code], [409, 'no_secrets_key']);
        assert.match(refused.body.detail, /etl is encrypted, and no key of this server opens it/);
      }

      const { id } = await made(first, 'POST', '/jobs', submit);
      await using both = await withKeys(fresh, old);
      assert.deepEqual(await made(both, 'POST', '/secrets/rotate'), { rotated: 0 });
      await using last = await withKeys(fresh);
      assert.deepEqual((await claimAll(last)).get(id), { A: TEXT }, 'after a rotation the new key opens it');
      assert.equal((await made(last, 'GET', '/definitions/etl/source')).source, file(TEXT));
    });
  });
}

test('env: without a key, texts are stored as they are; what is sealed cannot be submitted', async () => {
  await using server = await openTestServer({ secretKeys: null });
  const { id } = await made(server, 'POST', '/jobs', { command: 'true', env: { A: TEXT } });
  assert.deepEqual((await claimAll(server)).get(id), { A: TEXT });
  for (const value of [{ sealed: 'a:b' }, { secret: '~data-key-00000000' }, { secret: 'a', sealed: 'a:b' }]) {
    const { status } = await server.call('POST', '/jobs', { command: 'true', env: { A: value } });
    assert.equal(status, 400, JSON.stringify(value));
  }
  assert.equal((await server.call('DELETE', '/secrets/~data-key-00000000')).status, 400);
});
