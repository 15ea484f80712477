/** Profiles: named servers of a user, which of them a call talks to, and which token goes there. */

import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Called } from '../kit/command-line.ts';
import { callHosted } from '../kit/hosted-calls.ts';
import { temporaryFolder } from '../kit/workron-process.ts';

interface Setup extends AsyncDisposable {
  folder: string;
  /** Calls workron in a folder and with profiles of its own. */
  workron: (args: string, env?: Record<string, string>) => Promise<Called>;
  tokenFile: (name: string, mode?: number) => Promise<string>;
}

async function setUp(): Promise<Setup> {
  const folder = await temporaryFolder();
  return {
    folder: folder.path,
    workron: (args, env = {}) =>
      callHosted(args.split(' '), { cwd: folder.path, env: { XDG_CONFIG_HOME: join(folder.path, 'conf'), ...env } }),
    async tokenFile(name, mode = 0o600) {
      const path = join(folder.path, name);
      await writeFile(path, `token-of-${name}\n`);
      await chmod(path, mode);
      return path;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

interface Heard extends AsyncDisposable {
  url: string;
  /** The tokens of all requests, in order. */
  tokens: (string | undefined)[];
}

/** A server that notes tokens and has no jobs. */
async function listener(): Promise<Heard> {
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization?.replace('Bearer ', ''));
    response.end('{"items":[],"next_cursor":null}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('profiles', { concurrency: 2 }, () => {
  test('profiles: they are created, listed, chosen and deleted, in a file that only the user may read', async () => {
    await using setup = await setUp();
    const { workron, tokenFile, folder } = setup;
    const token = await tokenFile('prod');
    assert.equal((await workron(`config set prod --url https://prod.example/ --token-file prod`)).code, 0);
    assert.equal((await workron('config set local --url http://127.0.0.1:59')).code, 0);
    assert.equal((await workron('config use local')).stdout, 'commands now talk to http://127.0.0.1:59\n');
    assert.deepEqual(JSON.parse((await workron('profiles --json')).stdout), [
      { name: 'local', url: 'http://127.0.0.1:59', token_file: null, ca: null, in_use: true },
      { name: 'prod', url: 'https://prod.example', token_file: token, ca: null, in_use: false },
    ]);
    const file = join(folder, 'conf', 'workron', 'profiles.json');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.ok(!(await readFile(file, 'utf8')).includes('token-of-prod'), 'the token itself is in no second file');

    assert.match((await workron('jobs')).stderr, /cannot connect to Workron at http:\/\/127\.0\.0\.1:59 /);
    assert.equal((await workron('config rm local prod')).code, 0);
    assert.equal((await workron('config ls -q')).stdout, '');
    assert.match((await workron('config show')).stdout, /^url {4}http:\/\/127\.0\.0\.1:8080 \(from the default\)\n/);
  });

  test('profiles: flag wins over variable, variable over profile, profile over the file of the folder', async () => {
    await using setup = await setUp();
    const { workron, folder } = setup;
    const askedOf = async (args = '', env = {}): Promise<string> =>
      (JSON.parse((await workron(`config show --json${args}`, env)).stdout) as { url: string }).url;
    await workron('config set one --url http://one.example');
    await workron('config set two --url http://two.example');
    await workron('config use one');
    assert.equal(await askedOf('', { WORKRON_PORT: '9000' }), 'http://127.0.0.1:9000');
    await writeFile(join(folder, 'workron.yaml'), 'url: http://folder.example\n');
    const variable = { WORKRON_URL: 'http://variable.example' };

    assert.equal(await askedOf(), 'http://one.example');
    assert.equal(await askedOf(' --config workron.yaml'), 'http://folder.example', 'a file that is named comes first');
    assert.equal(await askedOf('', variable), 'http://variable.example');
    assert.equal(await askedOf('', { WORKRON_PROFILE: 'two' }), 'http://two.example');
    assert.equal(await askedOf('', { ...variable, WORKRON_PROFILE: 'two' }), 'http://variable.example');
    assert.equal(await askedOf(' --profile two', variable), 'http://two.example');
    assert.equal(await askedOf(' --profile two --url http://flag.example', variable), 'http://flag.example');
    await workron('config use none');
    assert.equal(await askedOf(), 'http://folder.example');
  });

  test('profiles: the token of a profile goes to its own address, and no other token goes there unasked', async () => {
    await using setup = await setUp();
    await using prod = await listener();
    await using other = await listener();
    const { workron, tokenFile } = setup;
    await tokenFile('prod');
    await workron(`config set prod --url ${prod.url} --token-file prod`);
    await workron(`config set bare --url ${prod.url}`);
    await workron('config use prod');

    await workron('jobs');
    await workron('jobs --profile prod', { WORKRON_TOKEN: 'from-variable' });
    await workron('jobs --profile prod --token from-flag');
    await workron('--profile bare jobs', { WORKRON_TOKEN: 'from-variable' });
    await workron('jobs', { WORKRON_PROFILE: 'bare' });
    assert.deepEqual(prod.tokens, ['token-of-prod', 'token-of-prod', 'from-flag', 'from-variable', undefined]);

    await workron(`jobs --url ${other.url}`);
    await workron('jobs', { WORKRON_URL: other.url });
    assert.deepEqual(other.tokens, [undefined, undefined]);

    for (const [args, env, from] of [
      ['jobs', { WORKRON_TOKEN: 'from-variable' }, 'WORKRON_TOKEN'],
      ['jobs --token from-flag', {}, '--token'],
    ] as const) {
      const { code, stderr } = await workron(args, env);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`refusing to send the token of ${from} to the address of profile prod`));
    }
    assert.equal(prod.tokens.length, 5);
  });

  test('profiles: a folder neither chooses a profile nor gives it a token', async () => {
    await using setup = await setUp();
    await using prod = await listener();
    const { workron, tokenFile, folder } = setup;
    await tokenFile('folder');
    await workron(`config set prod --url ${prod.url}`);
    await workron('config use prod');
    await writeFile(join(folder, 'workron.yaml'), 'token-file: folder\n');
    assert.equal((await workron('jobs')).code, 0);
    assert.deepEqual(prod.tokens, [undefined]);
    await writeFile(join(folder, 'workron.yaml'), 'profile: prod\n');
    const { code, stderr } = await workron('jobs');
    assert.equal(code, 2);
    assert.match(stderr, /the working directory does not choose a profile\nhint: give it by --profile/);
  });

  test('profiles: what is wrong is refused with what to do', async () => {
    await using setup = await setUp();
    const { workron, tokenFile, folder } = setup;
    await tokenFile('open', 0o644);
    await workron('config set prod --url https://prod.example');
    for (const [args, message] of [
      ['config set new', /expected --url for the new profile "new"/],
      ['config set Prod --url https://a.example', /expected a name of letters/],
      ['config set none --url https://a.example', /expected a name of letters/],
      ['config set prod --url ftp://a.example', /expected a URL such as/],
      ['config set prod --token-file open', /all users of this machine may use .*\nhint: chmod 600/],
      ['config set prod --token-file missing', /cannot read .*missing/],
      ['config use prdo', /there is no profile "prdo"\nhint: did you mean prod\?/],
      ['config rm prod gone', /there is no profile "gone"/],
      ['config show gone', /there is no profile "gone"/],
      ['config list', /unknown command 'config list'/],
      ['jobs --profile gone', /--profile: there is no profile "gone"/],
    ] as const) {
      const { code, stderr } = await workron(args);
      assert.equal(code, 2, args);
      assert.match(stderr, message);
    }
    assert.equal((await workron('config ls -q')).stdout, 'prod\n', 'nothing was changed');

    const file = join(folder, 'conf', 'workron', 'profiles.json');
    await chmod(file, 0o666);
    assert.match(
      (await workron('jobs')).stderr,
      /must be a file of your own that nobody else may use\nhint: chmod 600/,
    );
    assert.match((await workron('jobs --url http://127.0.0.1:59')).stderr, /cannot connect to Workron/);
    await chmod(file, 0o600);
    await writeFile(file, '{"current":null,"profiles":{"a":{}}}');
    assert.match((await workron('jobs')).stderr, /profiles\.json: expected a url in every profile/);
  });
});
