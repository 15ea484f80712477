/** Stored workflow definitions over HTTP. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTestServer, type TestServer } from '../kit/http.ts';

const FILE = `name: etl
description: Loads a day.
params:
  day: {description: The day to load}
  retries: {type: integer, default: 2}
steps:
  extract: {command: echo "$WORKRON_PARAM_DAY", env: {SECRET: hidden}}
  load: {command: echo load, depends_on: extract}
`;

const apply = (server: TestServer, source = FILE, more = {}) =>
  server.call('PUT', '/definitions/etl', { source, ...more });

test('definitions: apply is idempotent, and makes a version only if something changed', async () => {
  await using server = await openTestServer();
  const dry = await apply(server, FILE, { dry_run: true });
  assert.deepEqual([dry.status, dry.body.changed, dry.body.version, dry.body.dry_run], [200, true, 1, true]);
  assert.equal((await server.call('GET', '/definitions/etl')).status, 404);

  const first = await apply(server);
  assert.deepEqual([first.status, first.body.changed, first.body.version], [200, true, 1]);
  assert.deepEqual(first.body.params[1], {
    name: 'retries',
    type: 'integer',
    required: false,
    default: 2,
    enum: null,
    description: null,
  });
  assert.deepEqual(first.body.steps, [
    { key: 'extract', depends_on: [] },
    { key: 'load', depends_on: ['extract'] },
  ]);
  const comment = await apply(server, `# a comment changes nothing\n${FILE}`);
  assert.deepEqual([comment.body.changed, comment.body.version], [false, 1]);
  const second = await apply(server, FILE.replace('echo load', 'echo loaded'));
  assert.deepEqual([second.body.changed, second.body.version], [true, 2]);

  const { body } = await server.call('GET', '/definitions/etl?version=1');
  assert.deepEqual([body.version, body.versions.map((one: { version: number }) => one.version)], [1, [2, 1]]);
  assert.ok(!JSON.stringify(body).includes('hidden'), 'values of variables are not on the read side');
  assert.equal((await server.call('GET', '/definitions/etl/source?version=1')).body.source, FILE);
  const { items } = (await server.call('GET', '/definitions')).body;
  assert.deepEqual(
    items.map(({ name, version }: { name: string; version: number }) => [name, version]),
    [['etl', 2]],
  );
});

test('definitions: a wrong file is refused with line and column', async () => {
  await using server = await openTestServer();
  for (const [source, detail] of [
    [FILE.replace('depends_on: extract', 'depends_on: extrct'), /line 8, column \d+: .*did you mean "extract"\?/],
    [FILE.replace('name: etl', 'name: other'), /expected the name etl/],
    ['', /the file is empty/],
    [': :', /line 1/],
  ] as const) {
    const { status, body } = await apply(server, source);
    assert.deepEqual([status, body.code], [400, 'bad_request'], source);
    assert.match(body.detail, detail);
  }
  const many = Array.from({ length: 300 }, (_, place) => `k${place}: 1`);
  const { body } = await apply(server, `${FILE}\n${many.join('\n')}`);
  assert.equal(body.errors.length, 100);
  assert.match(body.detail, /\(and 299 more\)$/);
  assert.equal((await server.call('PUT', '/definitions/UPPER', { source: FILE })).status, 404);
  assert.equal((await server.call('PUT', '/definitions/etl', { source: 1 })).status, 400);
  assert.deepEqual((await server.call('GET', '/definitions')).body.items, []);
});

test('definitions: a run by name has its parameters and keeps its version', async () => {
  await using server = await openTestServer();
  await apply(server);
  const run = (body: object, headers = {}) => server.call('POST', '/definitions/etl/run', body, headers);
  const { status, body, headers } = await run({ params: { day: '2026-01-31' } });
  assert.deepEqual([status, body.name, body.params], [201, 'etl', { day: '2026-01-31', retries: 2 }]);
  assert.deepEqual([body.definition, headers.get('location')], [{ name: 'etl', version: 1 }, `/workflows/${body.id}`]);
  await apply(server, FILE.replace('echo load', 'echo loaded'));
  assert.deepEqual((await server.call('GET', `/workflows/${body.id}`)).body.definition.version, 1);
  assert.deepEqual((await run({ params: { day: 'x' } })).body.definition.version, 2);
  assert.deepEqual((await run({ version: 1, params: { day: 'x', retries: '7' } })).body.params, {
    day: 'x',
    retries: 7,
  });

  for (const [wrong, code, detail] of [
    [{}, 400, /\/params\/day: missing: the parameter has no default/],
    [{ params: { day: 'x', retries: 'many' } }, 400, /\/params\/retries: expected a whole number/],
    [{ params: { day: 'x', retrys: 1 } }, 400, /\/params\/retrys: unknown parameter; did you mean retries/],
    [{ version: 9, params: { day: 'x' } }, 404, /no workflow definition etl with version 9/],
    [{ version: 0 }, 400, /version/],
  ] as const) {
    const refused = await run(wrong);
    assert.equal(refused.status, code);
    assert.match(refused.body.detail, detail);
  }
  const key = { 'idempotency-key': 'once' };
  const [one, again] = [await run({ params: { day: 'k' } }, key), await run({ params: { day: 'k' } }, key)];
  assert.equal(one.body.id, again.body.id);

  const { recent } = (await server.call('GET', '/definitions/etl')).body;
  assert.deepEqual(
    recent.runs.map((one: { version: number }) => one.version),
    [2, 1, 2, 1],
  );
  assert.deepEqual([recent.success_rate, recent.median], [null, null]);
  await server.call('POST', `/workflows/${body.id}/cancel`);
  const after = (await server.call('GET', '/definitions/etl')).body.recent;
  assert.deepEqual([after.cancelled, after.success_rate, typeof after.runs.at(-1).duration], [1, 0, 'number']);
  const listed = (await server.call('GET', '/workflows?definition=etl')).body.items;
  assert.equal(listed.length, 4);
  assert.deepEqual((await server.call('GET', '/workflows?definition=other')).body.items, []);
});

test('definitions: schedules follow the latest version or keep one, and one in use is not deleted', async () => {
  await using server = await openTestServer();
  const schedule = (name: string, definition: object) =>
    server.call('PUT', `/schedules/${name}`, { every: '1h', definition: { name: 'etl', ...definition } });
  assert.equal((await schedule('early', {})).status, 404);
  await apply(server);
  const wrong = await schedule('wrong', { params: { day: 1 } });
  assert.deepEqual([wrong.status, /\/params\/day: expected text/.test(wrong.body.detail)], [400, true]);
  const latest = await schedule('latest', { params: { day: 'x' } });
  assert.equal(latest.status, 201);
  assert.deepEqual(latest.body.definition, { name: 'etl', version: 1, latest: true, params: { day: 'x' } });
  assert.equal((await schedule('first', { version: 1, params: { day: 'x' } })).body.definition.latest, false);
  assert.equal((await schedule('latest', { params: { day: 'x' } })).status, 200, 'equal already');

  const needs = await apply(server, FILE.replace('retries: {type: integer, default: 2}', 'month: {}'));
  assert.equal(needs.status, 400);
  assert.match(needs.body.detail, /The schedule latest follows it with other parameters: \/params\/month: missing/);
  await apply(server, FILE.replace('echo load', 'echo loaded'));
  const versions = async (name: string) => (await server.call('GET', `/schedules/${name}`)).body.definition.version;
  assert.deepEqual([await versions('latest'), await versions('first')], [2, 1]);
  const ran = (await server.call('POST', '/schedules/latest/run')).body.items[0];
  assert.deepEqual((await server.call('GET', `/workflows/${ran.workflow_id}`)).body.definition, {
    name: 'etl',
    version: 2,
  });

  const used = await server.call('DELETE', '/definitions/etl');
  assert.deepEqual([used.status, used.body.code], [409, 'definition_in_use']);
  assert.match(used.body.detail, /first, latest/);
  assert.deepEqual((await server.call('GET', '/definitions/etl')).body.schedules, ['first', 'latest']);
  await server.call('PATCH', '/schedules/first', { workflow: { name: 'x', steps: [{ key: 'a', command: 'true' }] } });
  assert.equal((await server.call('GET', '/schedules/first')).body.definition, null);
  await server.call('DELETE', '/schedules/latest');
  assert.equal((await server.call('DELETE', '/definitions/etl')).status, 200);
  assert.equal((await server.call('DELETE', '/definitions/etl')).status, 404);
  const both = { every: '1h', definition: { name: 'etl' }, job: { command: 'true' } };
  assert.equal((await server.call('POST', '/schedules', { name: 'both', ...both })).status, 400);
});
