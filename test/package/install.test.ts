/** The documented ways from an empty folder, with npm, on the oldest runtimes and this one. They take minutes. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { fullOnly } from '../full-only.ts';
import { nodeOf, packInto } from '../kit/packed.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const run = promisify(execFile);
const skip = fullOnly('install: npm install, npx workron up');

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let tarball: string;

before(async () => {
  folder = await temporaryFolder();
  if (skip === false) tarball = await packInto(folder.path);
});
after(() => folder[Symbol.asyncDispose]());

/** A user's empty folder and home, in which `node` is the given one. */
async function emptyFolder(name: string, node: string) {
  const cwd = join(folder.path, name);
  const home = join(folder.path, `${name}-home`);
  await mkdir(cwd);
  await mkdir(home);
  const env: Record<string, string> = {
    PATH: `${dirname(node)}:${process.env['PATH']}`,
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    WORKRON_PORT: '0',
  };
  return { cwd, env };
}

const LIBRARY = `
  import { job, open } from 'workron';
  const hello = job('hello', { run: (name) => 'hello ' + name });
  await (await open('memory:')).stop();
  const workron = await open('./library.db');
  await workron.start({ jobs: [hello], commands: true });
  console.log(await (await workron.submit(hello, 'world')).result());
  console.log((await (await workron.submitCommand('true')).ended()).status);
  await workron.stop();`;

for (const version of ['22.20.0', '24.7.0', 'this']) {
  test(`install: npm install, npx workron up, the first job, page, docs and library, on Node ${version}`, {
    skip,
  }, async () => {
    const node = version === 'this' ? process.execPath : await nodeOf(folder.path, version);
    const { cwd, env } = await emptyFolder(`user-${version}`, node);
    const inside = { cwd, env: { ...process.env, ...env } };
    const { stderr: warnings } = await run('npm', ['install', tarball], inside);
    assert.doesNotMatch(warnings, /EBADENGINE|deprecated|vulnerab/i);

    await using up = await startWorkron({ command: 'npx', args: ['workron', 'up'], cwd, env, ownToken: true });
    const workron = async (...args: string[]) =>
      (await run('npx', ['workron', ...args], { cwd, env: { ...inside.env, WORKRON_URL: up.url } })).stdout;
    assert.equal(await workron('run', '--', 'echo "first job"'), 'first job\n');
    assert.match(await workron('status'), /^healthy/);
    assert.match(await workron('doctor'), /^ok +node +v\d+/m);
    assert.ok((await stat(join(cwd, 'workron.db'))).size > 0);

    for (const path of ['/ui/', '/docs/', '/docs/recipes.html', '/docs/search.json', '/openapi.json']) {
      assert.equal((await fetch(up.url + path)).status, path === '/openapi.json' ? 401 : 200, path);
    }
    const page = await (await fetch(`${up.url}/ui/`)).text();
    for (const [, file = ''] of page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)) {
      assert.equal((await fetch(new URL(file, `${up.url}/ui/`))).status, 200, file);
    }

    // As a terminal does it: Ctrl-C reaches the whole group.
    process.kill(-up.pid, 'SIGINT');
    await up.exited;
    assert.match(up.output(), /"msg":"stopped"/);

    const { stdout, stderr } = await run(node, ['--input-type=module', '-e', LIBRARY], inside);
    assert.equal(stdout, 'hello world\ndone\n');
    assert.doesNotMatch(stderr, /Warning/);
  });
}

test('install: npm install --global, then workron from any folder', { skip }, async () => {
  const { cwd, env } = await emptyFolder('global', process.execPath);
  const prefix = join(folder.path, 'prefix');
  await run('npm', ['install', '--global', '--prefix', prefix, tarball], { cwd, env: { ...process.env, ...env } });
  const command = join(prefix, 'bin', 'workron');
  await using up = await startWorkron({ command, args: ['up'], cwd, env, ownToken: true });
  const { stdout } = await run(command, ['run', '--', 'echo global'], {
    cwd,
    env: { ...process.env, ...env, WORKRON_URL: up.url },
  });
  assert.equal(stdout, 'global\n');
});

const CLIENT = `
  import { Client } from 'workron/client';
  import { job } from 'workron/job';
  const client = new Client({ url: process.argv[2] });
  const { id } = await client.submit({ command: 'echo n=1 >> "$WORKRON_OUTPUT"; echo seen' });
  const ended = await client.waitJob(id, { timeout: '1m' });
  const log = [];
  for await (const event of client.followLogs(id)) if (event.type === 'output') log.push(event.text);
  const wrong = await client.submit({ command: 'true', priority: 1e9 }).catch((error) => error.code);
  console.log(ended.status, JSON.stringify(ended.result), log.join('').trim(), wrong, job('hello', {}).name);
`;

test('install: workron/client and workron/job run in Bun and Deno', { skip }, async () => {
  const { cwd } = await emptyFolder('runtimes', process.execPath);
  await run('npm', ['install', tarball, 'bun', 'deno'], { cwd });
  for (const script of ['bun/install.js', 'deno/install.cjs']) {
    await run(process.execPath, [join('node_modules', script)], { cwd });
  }
  await writeFile(join(cwd, 'client.mjs'), CLIENT);
  await using server = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:'], cwd });
  const bin = (name: string) => join(cwd, 'node_modules', '.bin', name);
  for (const [command, args] of [
    [bin('bun'), []],
    [bin('deno'), ['run', '--allow-net', '--node-modules-dir=manual']],
  ] as const) {
    const { stdout } = await run(command, [...args, 'client.mjs', server.url], { cwd });
    assert.equal(stdout, 'done {"n":"1"} seen bad_request hello\n', command);
  }
});
