/** Dockerfile, compose.yaml, chart and systemd unit: what can be checked without an engine, a cluster or a running systemd. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { runtimeProblem } from '../../src/node/runtime.ts';
import { loadSettings } from '../../src/ops/settings/load.ts';
import { readDockerfile } from '../kit/dockerfile.ts';
import { onPath } from '../kit/on-path.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const read = (file: string) => readFile(join(root, file), 'utf8');

test('Dockerfile: the image runs a supported Node, with commands as a user of their own, an init process and a health check', async () => {
  const stages = readDockerfile(await read('Dockerfile'));
  const last = stages.at(-1) ?? assert.fail();
  for (const { from } of stages) {
    const major = /^node:(\d+)-/.exec(from)?.[1] ?? assert.fail(from);
    assert.equal(runtimeProblem(`${major}.99.0`), undefined);
  }
  const found = Object.fromEntries(last.instructions.map(({ name, text }) => [name, text]));
  // Root of the container starts commands as another user.
  assert.equal(found['USER'], undefined);
  assert.equal(found['CMD'], '["up", "--run-as", "jobs"]');
  assert.match(last.instructions.map(({ text }) => text).join('\n'), /useradd --system --uid 10002 .* jobs/);
  assert.equal(found['ENTRYPOINT'], '["tini", "--", "workron"]');
  assert.match(found['HEALTHCHECK'] ?? '', /\/health/);
  assert.equal(found['VOLUME'], found['WORKDIR']);
});

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  depends_on?: Record<string, unknown>;
  read_only?: boolean;
  user?: string;
  cap_add?: string[];
}

interface Compose {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
}

function flagsOf(command: readonly string[]): Record<string, string> {
  const words = command.slice(1);
  const pairs = words.flatMap((word, at) => (at % 2 === 0 ? [[word.slice(2), words[at + 1] ?? '']] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}

test('compose.yaml: Workron understands its settings, and workers cannot reach the database', async () => {
  const { services, volumes } = parse(await read('compose.yaml'), { merge: true }) as Compose;
  await using folder = await temporaryFolder();
  const token = join(folder.path, 'token');
  await writeFile(token, 'a-token-of-more-than-22-characters', { mode: 0o600 });
  for (const [name, service] of Object.entries(services)) {
    for (const other of Object.keys(service.depends_on ?? {})) assert.ok(other in services, other);
    for (const volume of service.volumes ?? []) assert.ok((volume.split(':')[0] as string) in volumes, volume);
    const [command] = service.command ?? [];
    if (command !== 'scheduler' && command !== 'worker') continue;
    assert.equal(service.read_only, true, name);
    const env = { ...service.environment, WORKRON_TOKEN_FILE: token, WORKRON_HOST: '0.0.0.0' };
    const settings = loadSettings({ command, flags: flagsOf(service.command ?? []), env });
    assert.equal(settings.token, 'a-token-of-more-than-22-characters');
    assert.equal(settings.store.driver, command === 'scheduler' ? 'postgres' : 'sqlite');
  }
  const worker = services['worker'] ?? assert.fail();
  assert.deepEqual(Object.keys(worker.environment ?? {}), ['WORKRON_TOKEN_FILE']);
  assert.deepEqual(worker.volumes, ['token:/run/workron:ro']);
  // Jobs cannot read the token of their worker.
  assert.equal(flagsOf(worker.command ?? [])['run-as'], 'jobs');
  assert.ok(['SETUID', 'SETGID', 'KILL'].every((capability) => worker.cap_add?.includes(capability)));
  assert.equal(services['scheduler']?.user, '10001:10001');
});

test('compose.yaml: the secrets are made once, and only their owners can read them', async () => {
  const { services } = parse(await read('compose.yaml'), { merge: true }) as Compose;
  const [script = assert.fail()] = services['secrets']?.command ?? [];
  await using folder = await temporaryFolder();
  for (const name of ['workron', 'database']) await mkdir(join(folder.path, name));
  const local = script
    .replaceAll('/run/', `${folder.path}/`)
    .replaceAll('$$', '$')
    .replaceAll('10001:10001', `${process.getuid?.()}:${process.getgid?.()}`);
  const make = async () => {
    await run('sh', ['-euc', local]);
    return Promise.all(
      ['workron/token', 'database/password', 'database/pgpass'].map((file) => text(folder.path, file)),
    );
  };
  const [token = '', password, pgpass] = await make();
  assert.match(token, /^[\w-]{32} 600$/);
  assert.match(password ?? '', /^[\w-]{32} 444$/);
  assert.equal(pgpass, `*:*:*:*:${password?.slice(0, 32)}\n 600`);
  assert.deepEqual(await make(), [token, password, pgpass]);
});

/** Content and mode of a file. */
async function text(folder: string, file: string): Promise<string> {
  const { stdout } = await run('stat', ['-c', '%a', join(folder, file)]);
  return `${await readFile(join(folder, file), 'utf8')} ${stdout.trim()}`;
}

const chart = join(root, 'deploy', 'helm', 'workron');

async function templates(): Promise<Map<string, string>> {
  const names = await readdir(join(chart, 'templates'));
  const entries = names.map(async (name) => [name, await readFile(join(chart, 'templates', name), 'utf8')] as const);
  return new Map(await Promise.all(entries));
}

test('chart: every value that a template uses is in values.yaml, and every one there is used', async () => {
  const values = parse(await read('deploy/helm/workron/values.yaml')) as Record<string, unknown>;
  const all = [...(await templates()).values()].join('\n');
  const used = new Set([...all.matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path as string));
  const has = (path: string) =>
    path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], values) !==
    undefined;
  assert.deepEqual(
    [...used].filter((path) => !has(path)),
    [],
  );
  const given = Object.entries(values).flatMap(([group, keys]) =>
    Object.keys(keys as object).map((key) => `${group}.${key}`),
  );
  assert.deepEqual(
    given.filter((path) => !used.has(path) && !used.has(path.slice(0, path.indexOf('.')))),
    [],
  );
});

test('chart: workers, whose jobs can read their token, have another one than the schedulers', async () => {
  const values = parse(await read('deploy/helm/workron/values.yaml')) as {
    tokenSecret: { name: string };
    worker: { tokenSecret: { name: string } };
  };
  const all = await templates();
  assert.match(all.get('worker.yaml') ?? '', /"workron\.volumes" \.Values\.worker\.tokenSecret/);
  assert.match(all.get('scheduler.yaml') ?? '', /"workron\.volumes" \.Values\.tokenSecret/);
  assert.notEqual(values.worker.tokenSecret.name, values.tokenSecret.name);
});

test('chart: with a certificate, server, probes, workers and metrics all speak https, and workers get no key', async () => {
  const all = await templates();
  const probes = [...(all.get('scheduler.yaml') ?? '').matchAll(/httpGet: \{(.*)\}/g)].map(([, probe]) => probe);
  assert.equal(probes.length, 2);
  for (const probe of probes) assert.match(probe ?? '', /scheme: \{\{ include "workron\.scheme" \. \| upper \}\}/);
  assert.doesNotMatch([...all.values()].join('\n'), /\bhttp:\/\/\{\{/);
  assert.match(all.get('scheduler.yaml') ?? '', /--tls-cert\n.*tls\.crt\n.*--tls-key\n.*tls\.key/);
  assert.doesNotMatch(all.get('worker.yaml') ?? '', /tls\.key/);
  assert.match(all.get('worker.yaml') ?? '', /items:\n +- \{ key: ca\.crt, path: ca\.crt \}/);
});

test('chart: no pod gets variables of Kubernetes, which Workron would take for settings, or a token of the cluster', async () => {
  for (const [name, content] of await templates()) {
    if (!/^ {6}containers:/m.test(content)) continue;
    assert.match(content, /^ {6}enableServiceLinks: false$/m, name);
    assert.match(content, /^ {6}automountServiceAccountToken: false$/m, name);
  }
});

test('chart: helm accepts it', { skip: !onPath('helm') && 'helm is not installed' }, async () => {
  await run('helm', ['lint', '--strict', chart]);
  for (const set of [
    '',
    'keda.enabled=true,serviceMonitor.enabled=true',
    'hpa.enabled=true',
    'tls.secret=cert,serviceMonitor.enabled=true',
  ]) {
    const { stdout } = await run('helm', ['template', 'jobs', chart, '--set', set]);
    assert.match(stdout, /kind: Deployment/);
  }
});

const UNITS = ['workron', 'workron-worker'];

test('systemd: the units let running jobs finish, and are well restricted', async () => {
  for (const name of UNITS) {
    const unit = await read(`deploy/systemd/${name}.service`);
    for (const line of ['KillMode=mixed', 'Type=exec', 'Restart=on-failure', 'NoNewPrivileges=yes']) {
      assert.match(unit, new RegExp(`^${line}$`, 'm'));
    }
  }
});

test('systemd: jobs run as another user than the server, with another token', async () => {
  const [server, worker] = await Promise.all(UNITS.map((name) => read(`deploy/systemd/${name}.service`)));
  for (const key of ['User', 'StateDirectory', 'LoadCredential', 'EnvironmentFile']) {
    const of = (unit = '') => new RegExp(`^${key}=(.+)$`, 'm').exec(unit)?.[1] ?? assert.fail(key);
    assert.notEqual(of(server), of(worker));
  }
  // On a port, another user could take the server's place while it is down.
  const socket = /^ExecStart=\S+ scheduler --socket (%t\/workron\/\S+)$/m.exec(server ?? '')?.[1];
  assert.equal(/^ExecStart=\S+ worker --scheduler unix:(\S+)$/m.exec(worker ?? '')?.[1], socket ?? 'a socket');
  assert.match(server ?? '', /^RuntimeDirectory=workron\nRuntimeDirectoryMode=0755$/m);
});

for (const name of UNITS) {
  test(`systemd: systemd-analyze finds no fault in ${name}, and rates its exposure as OK`, {
    skip: !onPath('systemd-analyze') && 'systemd-analyze is not installed',
  }, async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, `${name}.service`);
    const unit = await read(`deploy/systemd/${name}.service`);
    await writeFile(file, unit.replace('/usr/local/bin/workron', join(root, 'bin', 'workron')));
    const { stdout, stderr } = await run('systemd-analyze', ['verify', file]);
    assert.equal(stdout + stderr, '');
    const rated = await run('systemd-analyze', ['security', '--offline=yes', '--threshold=30', file]);
    assert.match(rated.stdout, new RegExp(`Overall exposure level for ${name}\\.service: [12]\\.\\d OK`));
  });
}
