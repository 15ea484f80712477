/** Settings: what wins over what, what is refused, and which store follows. */

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { SettingsError } from '../../src/ops/settings/error.ts';
import { loadSettings } from '../../src/ops/settings/load.ts';
import type { SettingCommand, Settings } from '../../src/ops/settings/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'workron-settings-'));
after(() => rmSync(folder, { recursive: true }));

let files = 0;

function file(content: string): string {
  files += 1;
  const path = join(folder, `${files}.yaml`);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

interface Given {
  command?: SettingCommand;
  flags?: Record<string, string>;
  env?: Record<string, string>;
  yaml?: string;
}

function load({ command = 'up', flags = {}, env = {}, yaml = '' }: Given): Settings {
  return loadSettings({ command, flags, env, configFile: file(yaml) });
}

function refusal(given: Given): string {
  try {
    load(given);
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error));
    return `${error.message} | ${error.hint ?? ''}`;
  }
  assert.fail('was not refused');
}

test('settings: flag wins over variable, variable over file, file over default', () => {
  const flags = { 'reap-every': '1s' };
  const env = { WORKRON_REAP_EVERY: '2s' };
  const yaml = 'reap-every: 3s';
  assert.equal(load({ flags, env, yaml }).reapEveryMs, 1_000);
  assert.equal(load({ env, yaml }).reapEveryMs, 2_000);
  assert.equal(load({ yaml }).reapEveryMs, 3_000);
  assert.equal(load({}).reapEveryMs, 10_000);
});

test('settings: the defaults are those that the documents promise', () => {
  const settings = load({});
  assert.deepEqual(
    [settings.leaseMs, settings.heartbeatMs, settings.host, settings.port, settings.drainTimeoutMs],
    [30_000, 5_000, '127.0.0.1', 8080, null],
  );
  assert.deepEqual(settings.role, ['api', 'scheduler', 'worker']);
  assert.deepEqual(settings.store, { driver: 'sqlite', file: './workron.db' });
  assert.equal(settings.queues, null);
  assert.ok(settings.workers >= 4);
});

test('settings: lists and maps may be YAML lists and maps', () => {
  const settings = load({ yaml: 'queues: [a, b]\nresources:\n  gpu: 1\n  memory_mb: 512\nport: 9000\n' });
  assert.deepEqual(settings.queues, ['a', 'b']);
  assert.deepEqual(settings.resources, { gpu: 1, memory_mb: 512 });
  assert.equal(settings.port, 9000);
});

test('settings: an empty variable counts as not set', () => {
  assert.equal(load({ env: { WORKRON_PORT: '' } }).port, 8080);
});

test('settings: unknown variables and keys are refused with a suggestion', () => {
  assert.match(refusal({ env: { WORKRON_REAP_EVRY: '1s' } }), /WORKRON_REAP_EVRY.*did you mean WORKRON_REAP_EVERY\?/);
  assert.match(refusal({ yaml: 'worker: 3' }), /worker: unknown setting.*did you mean workers\?/);
});

test('settings: variables of clients and of jobs are no mistakes', () => {
  assert.equal(load({ env: { WORKRON_URL: 'http://h:1', WORKRON_CONFIG: '' } }).port, 8080);
  assert.equal(load({ env: { WORKRON_JOB_ID: '1', WORKRON_ATTEMPT: '2', WORKRON_ANYTHING: 'x' } }).port, 8080);
});

test('settings: a malformed value is refused in the words of its source', () => {
  assert.match(refusal({ flags: { port: '70000' } }), /^--port: expected a whole number from 0 to 65535, not "70000"/);
  assert.match(refusal({ env: { WORKRON_LEASE: 'soon' } }), /^WORKRON_LEASE: expected a duration/);
  assert.match(refusal({ yaml: 'role: api,schduler' }), /yaml: role: expected one of .*did you mean scheduler\?/);
  assert.match(
    refusal({ yaml: 'port: {a: {b: 1}}' }),
    /port: expected a string, a number, a boolean, or a list of them/,
  );
  assert.match(refusal({ yaml: 'a: b: c' }), /yaml: /);
  assert.match(refusal({ flags: { 'db-schema': 'a;drop' } }), /--db-schema: expected a name/);
});

test('settings: secrets do not appear in messages', () => {
  assert.doesNotMatch(refusal({ flags: { token: 'top secret' } }), /top/);
});

test('settings: a file that was asked for must be there', () => {
  assert.throws(
    () => loadSettings({ command: 'up', flags: {}, env: {}, configFile: join(folder, 'none.yaml') }),
    /cannot read the settings file/,
  );
  assert.throws(
    () => loadSettings({ command: 'up', flags: {}, env: { WORKRON_CONFIG: join(folder, 'none.yaml') } }),
    /cannot read the settings file/,
  );
});

test('settings: the token comes from its file when none is given', () => {
  const path = file('sesame\n');
  assert.equal(load({ env: { WORKRON_TOKEN_FILE: path } }).token, 'sesame');
  assert.equal(load({ env: { WORKRON_TOKEN_FILE: path, WORKRON_TOKEN: 'other' } }).token, 'other');
  chmodSync(path, 0o640);
  assert.equal(load({ env: { WORKRON_TOKEN_FILE: path } }).token, 'sesame');
  chmodSync(path, 0o644);
  assert.match(
    refusal({ env: { WORKRON_TOKEN_FILE: path } }),
    /all users of this machine may use .* \| chmod 600 .*mode: 0440.*defaultMode: 0440 and fsGroup/,
  );
  assert.match(refusal({ flags: { 'token-file': file('') } }), /is empty/);
});

test('settings: db-url decides the store', () => {
  const store = (url: string) => load({ flags: { 'db-url': url } }).store;
  assert.deepEqual(store('postgres://h/d'), { driver: 'postgres', url: 'postgres://h/d' });
  assert.deepEqual(store('postgresql://h/d'), { driver: 'postgres', url: 'postgresql://h/d' });
  assert.deepEqual(store('memory:'), { driver: 'memory' });
  assert.deepEqual(store('sqlite:data/w.db'), { driver: 'sqlite', file: 'data/w.db' });
  assert.deepEqual(store('sqlite:///var/w.db'), { driver: 'sqlite', file: '/var/w.db' });
  assert.deepEqual(store('./w.db'), { driver: 'sqlite', file: './w.db' });
});

test('settings: db-driver alone is enough where no place is needed, and may not contradict db-url', () => {
  assert.deepEqual(load({ flags: { 'db-driver': 'memory' } }).store, { driver: 'memory' });
  assert.deepEqual(load({ flags: { 'db-driver': 'sqlite' } }).store, { driver: 'sqlite', file: './workron.db' });
  assert.match(refusal({ flags: { 'db-driver': 'postgres' } }), /needs a db-url/);
  assert.match(refusal({ flags: { 'db-driver': 'sqlite', 'db-url': 'postgres://h/d' } }), /contradicts/);
  assert.match(refusal({ flags: { 'db-url': 'mysql://h/d' } }), /unsupported scheme mysql:/);
});

test('settings: DATABASE_URL and PORT are used when nothing else speaks, and only where they fit', () => {
  const env = { DATABASE_URL: 'postgres://h/d', PORT: '9000' };
  assert.deepEqual(load({ env }).store, { driver: 'postgres', url: 'postgres://h/d' });
  assert.equal(load({ env }).port, 9000);
  assert.equal(load({ env, yaml: 'port: 1' }).port, 1);
  assert.equal(load({ env: { DATABASE_URL: 'mysql://h/d' } }).store.driver, 'sqlite');
  assert.equal(load({ env, flags: { 'db-driver': 'memory' } }).store.driver, 'memory');
  const worker = load({ command: 'worker', env, flags: { scheduler: 'http://h:1' } });
  assert.deepEqual([worker.dbUrl, worker.schedulerUrls], [null, ['http://h:1']]);
});

test('settings: a worker needs exactly one place to get jobs from', () => {
  assert.match(refusal({ command: 'worker' }), /needs a scheduler/);
  assert.match(refusal({ command: 'worker', flags: { 'db-url': './w.db' } }), /needs a scheduler/);
  assert.match(
    refusal({ command: 'worker', flags: { scheduler: 'http://h', 'db-url': 'postgres://h/d' } }),
    /not both/,
  );
  const settings = load({ command: 'worker', flags: { scheduler: 'http://a:1/,https://b' } });
  assert.deepEqual(settings.schedulerUrls, ['http://a:1', 'https://b']);
});

test('settings: a file may hold what concerns other commands only', () => {
  const settings = load({ command: 'client', yaml: 'workers: 3\ntoken: t\nurl: http://h:1\n' });
  assert.deepEqual([settings.url, settings.token], ['http://h:1', 't']);
});

test('settings: a lease shorter than two heartbeats is refused', () => {
  assert.match(refusal({ flags: { lease: '8s' } }), /heartbeat must be at most half/);
  assert.equal(load({ flags: { lease: '10s' } }).leaseMs, 10_000);
});

test('settings: a client talks to the server that the same file or variables describe', () => {
  const url = (given: Given) => load({ command: 'client', ...given }).url;
  assert.equal(url({}), 'http://127.0.0.1:8080');
  assert.equal(url({ yaml: 'port: 18931' }), 'http://127.0.0.1:18931');
  assert.equal(url({ env: { WORKRON_PORT: '7' }, yaml: 'port: 18931' }), 'http://127.0.0.1:7');
  assert.equal(url({ yaml: 'port: 9\nhost: 0.0.0.0' }), 'http://127.0.0.1:9');
  assert.equal(url({ yaml: "host: '::1'" }), 'http://[::1]:8080');
  assert.equal(url({ yaml: 'port: 0' }), 'http://127.0.0.1:8080', 'a free port is not known');
  assert.equal(url({ env: { PORT: '5' } }), 'http://127.0.0.1:8080', 'PORT may be that of another program');
  assert.equal(url({ env: { WORKRON_URL: 'http://x:1' }, yaml: 'port: 18931' }), 'http://x:1');
  assert.match(refusal({ command: 'client', yaml: 'port: many' }), /port/);
});

/** Loads settings in a folder that has a `workron.yaml`, which nobody named. */
function loadIn(yaml: string, given: Given, prepare = (_folder: string): void => {}): Settings {
  const before = process.cwd();
  const visited = mkdtempSync(join(folder, 'visited-'));
  prepare(visited);
  writeFileSync(join(visited, 'workron.yaml'), yaml);
  process.chdir(visited);
  try {
    return loadSettings({ command: 'client', flags: {}, env: {}, ...given });
  } finally {
    process.chdir(before);
  }
}

test('settings: a file that nobody named does not decide who gets a token', () => {
  const url = 'url: http://elsewhere.example';
  const secret = file('secret-of-the-user');
  const refused = /refusing to send the token of/;
  assert.throws(() => loadIn(url, { env: { WORKRON_TOKEN: 't' } }), refused);
  assert.throws(() => loadIn(url, { flags: { token: 't' } }), refused);
  assert.throws(() => loadIn(`${url}\ntoken-file: ${secret}`, {}), refused);
  const worker = { command: 'worker', env: { WORKRON_TOKEN_FILE: secret } } as const;
  assert.throws(() => loadIn('scheduler: http://elsewhere.example', worker), refused);

  for (const yaml of ['port: 9', 'host: elsewhere.example']) {
    assert.throws(() => loadIn(yaml, { env: { WORKRON_TOKEN: 't' } }), refused, yaml);
  }

  assert.equal(loadIn(`${url}\ntoken: its-own`, {}).token, 'its-own');
  assert.equal(loadIn('port: 9\ntoken: its-own', {}).url, 'http://127.0.0.1:9');
  assert.equal(loadIn(url, {}).token, null);
  assert.equal(loadIn(url, { flags: { url: 'http://mine.example' }, env: { WORKRON_TOKEN: 't' } }).token, 't');
  assert.equal(load({ command: 'client', yaml: url, env: { WORKRON_TOKEN: 't' } }).url, 'http://elsewhere.example');
});

test("settings: in a server's own folder, its token goes to the default address, and a hint helps with others", () => {
  const env = { WORKRON_TOKEN: 't' };
  for (const yaml of ['port: 8080', 'host: 127.0.0.1', 'host: 0.0.0.0', 'port: 8080\nhost: "::"']) {
    assert.equal(loadIn(yaml, { env }).url, 'http://127.0.0.1:8080', yaml);
  }
  const hint = (yaml: string) => {
    try {
      loadIn(yaml, { env });
    } catch (error) {
      return (error as SettingsError).hint ?? '';
    }
    return assert.fail('was not refused');
  };
  assert.match(hint('port: 9000'), /--url http:\/\/127\.0\.0\.1:9000, or name the file: --config/);
  assert.match(hint('url: http://elsewhere.example'), /--url URL,/);
});

test('settings: a token file counts as that of the same folder only if it lies there', () => {
  const yaml = 'port: 9\ntoken-file: ./token';
  const secret = file('secret-of-the-user');
  const own = (visited: string) => writeFileSync(join(visited, 'token'), 'its-own', { mode: 0o600 });
  assert.equal(loadIn(yaml, {}, own).token, 'its-own');
  const refused = /refusing to send the token of/;
  assert.throws(() => loadIn(yaml, {}, (visited) => symlinkSync(secret, join(visited, 'token'))), refused);
  assert.throws(() => loadIn(`port: 9\ntoken-file: ${secret}`, {}), refused);
  assert.throws(() => loadIn('port: 9\ntoken-file: ../1.yaml', {}), refused);
  assert.throws(() => loadIn(yaml, { env: { WORKRON_TOKEN_FILE: secret } }, own), refused);
  assert.throws(() => loadIn(yaml, { env: { WORKRON_TOKEN: 't' } }, own), refused, 'the variable wins');
});

test('settings: a file that nobody named does not decide which code runs', () => {
  const yaml = 'handlers: ./jobs.ts';
  assert.throws(() => loadIn(yaml, { command: 'up' }), /refusing to run code/);
  assert.deepEqual(load({ command: 'up', yaml }).handlers, ['./jobs.ts']);
  assert.deepEqual(loadIn(yaml, { command: 'up', flags: { handlers: './mine.ts' } }).handlers, ['./mine.ts']);
});

test('settings: the names of a proxy need its address and roles, and are parsed strictly', () => {
  const proxy = { 'trust-proxy': '127.0.0.1,10.0.0.0/8', 'user-header': 'X-Forwarded-Email' };
  const { trustProxy, userHeader, roleMap } = load({
    flags: { ...proxy, 'role-map': 'ada@example.org=admin,*@example.org=viewer' },
  });
  assert.deepEqual([trustProxy, userHeader], [['127.0.0.1', '10.0.0.0/8'], 'x-forwarded-email']);
  assert.deepEqual(roleMap, [
    { pattern: 'ada@example.org', role: 'admin' },
    { pattern: '*@example.org', role: 'viewer' },
  ]);
  assert.match(refusal({ flags: proxy }), /user-header needs trust-proxy, .* and role-map/);
  assert.match(
    refusal({ flags: { 'user-header': 'x-user', 'role-map': '*=viewer' } }),
    /user-header needs trust-proxy/,
  );
  assert.match(refusal({ flags: { 'role-map': '*=viewer' } }), /role-map needs user-header/);
  assert.match(
    refusal({ flags: { ...proxy, 'role-map': '*=viewer', 'insecure-no-token': 'on' } }),
    /exclude each other/,
  );
  for (const given of ['ada', 'ada=', '=admin', 'ada=worker', 'ada=root', 'a=b=admin', '**********=admin']) {
    assert.match(refusal({ flags: { ...proxy, 'role-map': given } }), /expected (rules such as|a list)/, given);
  }
  for (const given of ['all', 'proxy.example.org', '10.0.0.0/33', '']) {
    assert.match(refusal({ flags: { 'trust-proxy': given } }), /expected/, given);
  }
  for (const given of ['authorization', 'Cookie', 'a b', 'X-Forwarded-For', 'x:y']) {
    assert.match(
      refusal({ flags: { ...proxy, 'user-header': given, 'role-map': '*=viewer' } }),
      /a header such as/,
      given,
    );
  }
});

test('settings: notify is one target as commands take it, or a list as JSON', () => {
  const notifyOf = (notify: string) => loadSettings({ command: 'up', flags: { notify }, env: {} }).notify;
  assert.deepEqual(notifyOf('failed,recovered=https://example.com/hook?a=b'), [
    { on: ['failed', 'recovered'], webhook: 'https://example.com/hook?a=b' },
  ]);
  assert.deepEqual(notifyOf('slow:10m,failed=mail -s "a=b" ops'), [
    { on: ['slow', 'failed'], command: 'mail -s "a=b" ops', slow_after: '10m' },
  ]);
  assert.deepEqual(notifyOf('[{"on":["done"],"command":"true"}]'), [{ on: ['done'], command: 'true' }]);
  for (const wrong of ['https://example.com/hook', 'failed=', '=x', '{"on":["done"]}', '[1']) {
    assert.throws(() => notifyOf(wrong), /notify: expected/, wrong);
  }
  assert.throws(() => notifyOf('failed=https://a.example,late=https://b.example'), /one target, or several/);
});
