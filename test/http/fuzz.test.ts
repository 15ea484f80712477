/** Every route, from the API document, with valid and malformed requests mixed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { notifyFrom } from '../../src/api/notify.ts';
import { Problem } from '../../src/api/problem-schema.ts';
import { ERROR_CODES, type ErrorCode } from '../../src/core/error.ts';
import { HANDLERS } from '../../src/http/handlers.ts';
import { effort } from '../effort.ts';
import { openTestServer, type TestServer } from '../kit/http.ts';
import { type JsonSchema, SchemaValues, seededRandom } from '../kit/json-schema.ts';

const SEED = Number(process.env['WORKRON_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

interface Attack {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** What the document cannot say: fields that exclude each other. */
function agree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(agree);
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (fields['handler'] === undefined) fields['command'] ??= 'true';
  if (fields['command'] !== undefined) {
    delete fields['handler'];
    delete fields['input'];
  }
  // An edit seals only an input that it has.
  if (fields['input'] === undefined) delete fields['seal_input'];
  if (fields['run_at'] !== undefined) delete fields['delay'];
  if (fields['max_attempts'] !== undefined) delete fields['max_retries'];
  for (const field of ['depends_on', 'limits', 'rates']) {
    // Each may be named once.
    if (Array.isArray(fields[field])) fields[field].splice(1);
  }
  agreeOnUnique(fields);
  agreeOnGang(fields);
  return agreeOnNotify(fields);
}

const NOT_IN_GANGS = ['limits', 'rates', 'unique', 'max_attempts', 'max_retries', 'rerun', 'for_each', 'max_parallel'];

function agreeOnGang(fields: Record<string, unknown>): void {
  const gang = fields['gang'] as Record<string, unknown> | undefined;
  if (gang === undefined) return;
  // No worker is there.
  delete gang['fail_fast'];
  for (const field of NOT_IN_GANGS) delete fields[field];
  if (gang['min'] === undefined) return;
  gang['min'] = 1;
  if (gang['on_member_failure'] === 'continue') delete gang['on_member_failure'];
  delete fields['start_timeout'];
}

function agreeOnUnique(fields: Record<string, unknown>): void {
  const unique = fields['unique'] as Record<string, unknown> | undefined;
  if (typeof unique !== 'object' || unique === null) return;
  if (unique['max_wait'] !== undefined) Object.assign(unique, { wait: 1_000, max_wait: '7d', on_conflict: 'replace' });
  if (unique['wait'] !== undefined) for (const field of ['delay', 'run_at']) delete fields[field];
  if (['supersede', 'after'].includes(String(unique['on_conflict']))) delete unique['while'];
}

function agreeOnNotify(fields: Record<string, unknown>): Record<string, unknown> {
  for (const entry of (fields['notify'] ?? []) as Record<string, unknown>[]) {
    if (entry['webhook'] === undefined) entry['command'] ??= 'true';
    else delete entry['command'];
    const events = (entry['on'] ?? []) as string[];
    if (entry['slow_after'] !== undefined) entry['on'] = [...new Set([...events, 'slow'])];
    else if (events.includes('slow')) entry['slow_after'] = '1h';
  }
  return fields;
}

/** Targets that are given, or those of the installation. */
function agreeOnTest({ notify, installation = 'all' }: Record<string, unknown>): Record<string, unknown> {
  if (notify === undefined) return { installation: installation === 'all' ? installation : 1 };
  return agreeOnNotify({ notify: (notify as unknown[]).length === 0 ? [{ on: ['failed'] }] : notify });
}

/** Keys once each, and parents only among the steps before. */
function agreeOnSteps(workflow: Record<string, unknown>): Record<string, unknown> {
  const steps = ((workflow['steps'] as unknown[]).length === 0 ? [{}] : workflow['steps']) as Record<string, unknown>[];
  workflow['steps'] = steps.map((step, index) => {
    const agreed = agree({ ...step, key: `s${index}` }) as Record<string, unknown>;
    if (index > 0 && agreed['depends_on'] !== undefined) agreed['depends_on'] = [`s${index - 1}`];
    else delete agreed['depends_on'];
    if (agreed['depends_on'] === undefined) delete agreed['if'];
    if (agreed['depends_on'] === undefined) delete agreed['for_each'];
    if (agreed['for_each'] !== undefined && !Array.isArray(agreed['for_each'])) {
      agreed['for_each'] = { output: `s${index - 1}.list` };
    }
    if (agreed['for_each'] === undefined) delete agreed['max_parallel'];
    return agreed;
  });
  return agreeOnNotify(workflow);
}

/** A time and something to run, each once, and no bounds that are over. A whole schedule has both, an edit may have neither. */
function agreeOnSchedule(schedule: Record<string, unknown>, isWhole: boolean): Record<string, unknown> {
  if (schedule['cron'] !== undefined) schedule['cron'] = '0 2 * * *';
  else if (isWhole) schedule['every'] ??= '7d';
  if (schedule['cron'] !== undefined) delete schedule['every'];
  for (const field of ['anchor', 'start_at', 'end_at']) delete schedule[field];
  if (schedule['timezone'] !== undefined) schedule['timezone'] = 'Europe/Berlin';
  if (Array.isArray(schedule['for_each'])) schedule['for_each'] = ['a', 'b'];
  if (schedule['job'] !== undefined) {
    delete schedule['workflow'];
    delete schedule['definition'];
    schedule['job'] = agree(schedule['job']);
  } else if (schedule['workflow'] !== undefined) {
    delete schedule['definition'];
    schedule['workflow'] = agreeOnSteps(schedule['workflow'] as Record<string, unknown>);
  } else if (isWhole && schedule['definition'] === undefined) schedule['job'] = { command: 'true' };
  return agreeOnNotify(schedule);
}

/** What is asked of a schedule that is there. */
function agreeOnScheduleCall(
  { path, isWhole }: { path: string; isWhole: boolean },
  value: Record<string, unknown>,
): Record<string, unknown> {
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  switch (path) {
    case '/schedules':
      return agreeOnSchedule(value, true);
    case '/schedules/apply': {
      const schedules = value['schedules'] as Record<string, unknown>[];
      value['schedules'] = schedules.map((each, place) => agreeOnSchedule({ ...each, name: `applied-${place}` }, true));
      return value;
    }
    case '/schedules/{name}':
      // Whoever says the whole of it must be its owner.
      if (isWhole) delete value['owner'];
      return { jitter: '1m', ...agreeOnSchedule(value, isWhole) };
    case '/schedules/preview': {
      const { every, cron = every === undefined ? '0 2 * * *' : undefined, count } = value;
      const timing = cron === undefined ? { every } : { cron: '0 2 * * *' };
      return { ...timing, ...(count === undefined ? {} : { count }) };
    }
    case '/schedules/{name}/run':
      return {};
    case '/schedules/{name}/backfill':
      return { ...value, from: ago(2), to: ago(1), keys: undefined };
    default:
      return value;
  }
}

class Fuzzer {
  readonly #values: SchemaValues;
  readonly #ids: Record<string, readonly string[]>;

  constructor(values: SchemaValues, ids: Record<string, readonly string[]>) {
    this.#values = values;
    this.#ids = ids;
  }

  valid(method: string, path: string, operation: JsonSchema): Attack {
    const query = new URLSearchParams();
    let filled = path;
    for (const { name, in: place, required, schema } of operation['parameters']) {
      if (place === 'path') {
        filled = filled.replace(
          `{${name}}`,
          encodeURIComponent(this.#values.pick(this.#ids[path.split('/')[1] as string] ?? ['a'])),
        );
      } else if (required || this.#values.chance(0.3)) {
        const value = this.#values.valid(schema);
        for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
      }
    }
    if (path.endsWith('/wait')) query.set('timeout', '0');
    if (path === '/stats' && query.has('from')) query.set('from', '2d');
    if (path === '/stats' && query.has('to')) query.set('to', '1d');
    if (path === '/stats' && query.has('step')) query.set('step', '1h');
    const suffix = query.size === 0 ? '' : `?${query.toString()}`;
    const body = this.#body({ method, path, isWhole: method === 'put' }, operation['requestBody']);
    return { method: method.toUpperCase(), path: filled + suffix, ...body };
  }

  #body(
    call: { method: string; path: string; isWhole: boolean },
    requestBody: JsonSchema | undefined,
  ): Pick<Attack, 'headers' | 'body'> {
    const { method, path } = call;
    if (requestBody === undefined || (!requestBody['required'] && this.#values.chance(0.5))) {
      return { headers: {}, body: undefined };
    }
    const [type, { schema }] = Object.entries<JsonSchema>(requestBody['content'])[0] as [string, JsonSchema];
    const headers = { 'content-type': type };
    if (type !== 'application/json')
      return { headers, body: path.endsWith('/output') ? new Uint8Array() : Buffer.from('hi\n') };
    let value = this.#values.valid(schema) as Record<string, unknown>;
    if (path === '/jobs') value = agree(value) as Record<string, unknown>;
    if (path === '/workflows') value = agreeOnSteps(value);
    if (path === '/secrets/{name}') value = { value: `${String(value['value'])} and more` };
    if (path === '/tokens' && value['queues'] !== undefined) value = { ...value, role: 'worker', queues: ['a'] };
    if (path === '/notify/test') value = agreeOnTest(value);
    if (path.startsWith('/schedules')) value = agreeOnScheduleCall(call, value);
    // An edit must edit something; the document has no word for that.
    if (method === 'patch' && path === '/jobs/{id}') value['priority'] ??= 1;
    // Nor for this: an empty filter must be meant.
    if (path === '/jobs/bulk' && Object.keys(value['filter'] as object).length === 0) value['all'] = true;
    if (path === '/jobs/{id}' && value['run_at'] !== undefined) delete value['delay'];
    if (path === '/jobs/claim') value['wait'] = 0;
    if (path === '/queues/{name}') value['paused'] ??= false;
    return { headers, body: JSON.stringify(value) };
  }

  malformed(method: string, path: string, operation: JsonSchema): Attack {
    const attack = this.valid(method, path, operation);
    switch (this.#values.pick(['body', 'body', 'body', 'query', 'path', 'text', 'type'])) {
      case 'body': {
        const value: unknown = typeof attack.body === 'string' ? JSON.parse(attack.body) : {};
        if (attack.method !== 'GET') attack.body = JSON.stringify(this.#values.broken(value));
        break;
      }
      case 'query': {
        const junk = this.#values.pick([
          'x=1',
          'limit=-1',
          'attempt=%00',
          'timeout=1w',
          'status=,',
          'tag=',
          'cursor=%ff',
          'from=1e9',
          'offset=1e99',
          '&&=',
          '__proto__=1',
          'limit=5&limit=6',
        ]);
        attack.path += (attack.path.includes('?') ? '&' : '?') + junk;
        break;
      }
      case 'path':
        attack.path = path.replace(
          /\{\w+\}/,
          this.#values.pick(['0', 'x', '%00', '%F0%9F%92%A9', '-1', '99999999999999999999', '1.5', '%2e%2e%2f', '%']),
        );
        break;
      case 'text':
        if (attack.method !== 'GET')
          attack.body = this.#values.pick(['{', '[', '"', '{"a":', 'nul', '\ufeff{}', '[[', '{}{}', '\0']);
        break;
      default:
        attack.headers['content-type'] = this.#values.pick([
          'text/plain',
          'x',
          'application/json; charset=utf-16',
          'multipart/form-data',
        ]);
    }
    return attack;
  }
}

async function send(server: TestServer, attack: Attack): Promise<{ status: number; type: string; text: string }> {
  const ended = new AbortController();
  const response = await fetch(server.url + attack.path, {
    method: attack.method,
    headers: attack.headers,
    ...(attack.body === undefined ? {} : { body: attack.body }),
    signal: ended.signal,
  });
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    ended.abort();
    return { status: response.status, type, text: '' };
  }
  return { status: response.status, type, text: await response.text() };
}

/** Ids that exist. */
async function furnish(server: TestServer): Promise<Record<string, readonly string[]>> {
  await server.call(
    'POST',
    '/jobs',
    Array.from({ length: 4 }, (_, index) => ({ command: 'true', delay: index < 2 ? '1h' : 0 })),
  );
  const { body: worker } = await server.call('POST', '/workers/register', { name: 'w' });
  await server.call('POST', '/jobs/claim', { worker_id: worker.worker_id });
  for (const name of ['one', 'two']) {
    await server.call('POST', '/workflows', { name, steps: [{ key: 'deploy', command: 'true', delay: '1h' }] });
  }
  for (const name of ['hourly', 'daily']) {
    await server.call('POST', '/schedules', { name, cron: `@${name}`, overlap: 'allow', job: { command: 'true' } });
  }
  const source = 'name: nightly-report\nsteps: {hello: {command: echo hello}}\n';
  await server.call('PUT', '/definitions/nightly-report', { source });
  for (const name of ['one', 'two']) await server.call('POST', '/tokens', { name, role: 'viewer' });
  for (const name of ['one', 'two']) await server.call('PUT', `/secrets/${name}`, { value: 'a long secret' });
  await makeQueues(server);
  const { body } = await server.call('POST', '/jobs/bulk', { action: 'retry', filter: { name: 'nobody' } });
  return {
    jobs: ['1', '2', '3', '4'],
    workers: [worker.worker_id],
    workflows: ['1', '2'],
    schedules: ['hourly', 'daily'],
    definitions: ['nightly-report'],
    operations: [body.operation.id],
    queues: ['default', 'mäil/a b', 'idle', 'spare'],
    tokens: ['one', 'two'],
    secrets: ['one', 'two'],
  };
}

/** Makes what a request to delete needs, as an earlier one may have deleted it: only ended jobs and workflows can be deleted. */
async function makeDeletable(server: TestServer, path: string, ids: Record<string, readonly string[]>): Promise<void> {
  if (path === '/queues/{name}') await makeQueues(server);
  const step = { command: 'true', delay: '1h' };
  for (const [kind, body] of [
    ['jobs', step],
    ['workflows', { name: 'ended', steps: [{ key: 'only', ...step }] }],
  ] as const) {
    if (path !== `/${kind}/{id}`) continue;
    const { id } = (await server.call('POST', `/${kind}`, body)).body;
    await server.call('POST', `/${kind}/${id}/cancel`);
    ids[kind] = [id];
  }
}

/** Queues without jobs, which can be deleted. */
async function makeQueues(server: TestServer): Promise<void> {
  for (const name of ['mäil/a b', 'idle', 'spare']) {
    await server.call('PATCH', `/queues/${encodeURIComponent(name)}`, { paused: true });
  }
}

/** One target of the installation. */
const TARGETS = notifyFrom([{ on: ['failed'], command: 'true' }]);

/** States of jobs and leases may be against a request; its form must not be. */
const REFUSALS: readonly ErrorCode[] = [
  'illegal_transition',
  'lease_lost',
  'unique_conflict',
  'worker_not_found',
  'not_found',
  'dependency_unknown',
  'schedule_exists',
  'schedule_not_found',
  'definition_not_found',
  'definition_in_use',
  'token_exists',
  'token_not_found',
  'secret_not_found',
  'too_many_requests',
];

const document = await (async () => {
  await using server = await openTestServer();
  return (await server.call('GET', '/openapi.json')).body as JsonSchema;
})();

for (const [path, operations] of Object.entries<JsonSchema>(document['paths'])) {
  for (const [method, operation] of Object.entries<JsonSchema>(operations)) {
    test(`fuzz ${method.toUpperCase()} ${path}: valid requests succeed, malformed ones are refused with a reason, none breaks the server`, async () => {
      await using server = await openTestServer({ notify: { list: TARGETS, secret: null, publicUrl: null } });
      const values = new SchemaValues(document['components'].schemas, seededRandom(SEED));
      const ids = await furnish(server);
      const fuzzer = new Fuzzer(values, ids);
      const handler = HANDLERS.find(
        ({ route }) => route.method === method.toUpperCase() && route.path === path.replace(/\{(\w+)\}/g, ':$1'),
      );
      let successes = 0;
      for (let round = 0; round < effort.fuzzPerRoute; round += 1) {
        const valid = round % 2 === 0;
        // A malformed request to delete one is a request without a body, and so deletes it.
        if (method === 'delete') await makeDeletable(server, path, ids);
        const attack = valid ? fuzzer.valid(method, path, operation) : fuzzer.malformed(method, path, operation);
        const { status, type, text } = await send(server, attack);
        const story = `seed ${SEED}: ${attack.method} ${attack.path} ${String(attack.body).slice(0, 500)} → ${status} ${text.slice(0, 500)}`;
        assert.ok(status < 500, story);
        if (status >= 400) {
          const { code, status: told } = Problem.parse(JSON.parse(text));
          assert.deepEqual([told, ERROR_CODES[code as ErrorCode]], [status, status], story);
          if (valid) assert.ok((REFUSALS as readonly string[]).includes(code), story);
          continue;
        }
        successes += valid ? 1 : 0;
        const schema = handler?.replies[status];
        assert.ok(schema, story);
        if (!type.startsWith('application/json') || !(schema instanceof z.ZodType)) continue;
        const body: unknown = JSON.parse(text);
        assert.deepEqual(schema.parse(body), body, story);
      }
      if (!/\/(done|fail|retry|logs|claim|checkpoint)$/.test(path))
        assert.ok(successes > 0, `seed ${SEED}: nothing succeeded`);
      assert.equal((await server.call('GET', '/health')).status, 200);
    });
  }
}
