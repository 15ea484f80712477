/** The npm package: built, checked by linters for packages, installed in an empty folder, and used. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Plugin, rolldown } from 'rolldown';
import { build } from 'vite';
import { bundle } from '../../build/bundle.ts';
import { effort } from '../effort.ts';
import { fullOnly } from '../full-only.ts';
import { openBrowser } from '../kit/browser.ts';
import { openTestServer } from '../kit/http.ts';
import { libraryReference } from '../kit/library-reference.ts';
import { nodeOf, packInto } from '../kit/packed.ts';
import { startWorkron, temporaryFolder } from '../kit/workron-process.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const bin = (name: string) => join(root, 'node_modules', '.bin', name);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let source: string;
let tarball: string;

before(async () => {
  folder = await temporaryFolder();
  source = join(folder.path, 'source');
  tarball = await packInto(folder.path);
});
after(() => folder[Symbol.asyncDispose]());

test('package: publint and are-the-types-wrong find no problem', async () => {
  const { stdout } = await run(bin('publint'), [tarball, '--strict']);
  assert.match(stdout, /All good!/);
  // Takes half a minute of processor time.
  if (effort.full) await run(bin('attw'), [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji']);
});

test('package: has few files, among them the examples and schemas, and no screenshots but those of the README', async () => {
  const { stdout } = await run('tar', ['-tzf', tarball]);
  const files = stdout.trim().split('\n');
  assert.ok(files.length < 300, `${files.length} files`);
  for (const file of [
    'examples/nightly-report.yaml',
    'schema/workflow.schema.json',
    'dist-ui/index.html',
    'dist-docs/index.html',
  ]) {
    assert.ok(files.includes(`package/${file}`), file);
  }
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const unused = files.filter((file) => file.endsWith('.png') && !readme.includes(file.slice('package/dist-'.length)));
  assert.deepEqual(unused, []);
});

test('docs: library-reference.md matches the types', async () => {
  const written = await readFile(join(root, 'docs', 'library-reference.md'), 'utf8');
  const reference = libraryReference(join(source, 'dist', 'types'));
  assert.equal(written, reference, 'run: node test/kit/library-reference.ts > docs/library-reference.md');
});

const APPLICATION = `
  import { open, job } from 'workron';
  import { Client } from 'workron/client';
  import { openTestKit } from 'workron/testing';
  const hello = job('hello', { run: (name) => 'hello ' + name });
  const workron = await open('./jobs.db', { log: 'silent' });
  await workron.start({ jobs: [hello], commands: true });
  console.log(await (await workron.submit(hello, 'world')).result());
  console.log((await (await workron.submitCommand('true')).ended()).status);
  const { fetch } = await workron.mount();
  console.log((await fetch(new Request('http://x/health'))).status);
  await workron.stop();
  const kit = await openTestKit({ jobs: [hello] });
  await kit.workron.submit(hello, 'kit');
  console.log((await kit.runNext()).result, typeof Client);
  await kit[Symbol.asyncDispose]();
`;

/** A new folder with the package and its dependencies, as npm would install them. */
async function install(): Promise<string> {
  const app = join(folder.path, 'app');
  await mkdir(join(app, 'node_modules'), { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', join(app, 'node_modules')]);
  await run('mv', [join(app, 'node_modules', 'package'), join(app, 'node_modules', 'workron')]);
  const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) {
    await symlink(join(root, 'node_modules', name), join(app, 'node_modules', name));
  }
  await writeFile(join(app, 'app.mjs'), APPLICATION);
  return app;
}

/** The oldest Node of each line that `engines` allows. */
async function oldestNodes(): Promise<string[]> {
  const { engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { engines: { node: string } };
  const versions = [...engines.node.matchAll(/\d+\.\d+/g)].map(([version]) => `${version}.0`);
  assert.deepEqual(versions, ['22.20.0', '24.7.0']);
  return Promise.all(versions.map((version) => nodeOf(folder.path, version)));
}

test('package: library and command work in an empty folder, on every available runtime', async () => {
  const app = await install();
  const runtimes = [process.execPath, ...(effort.full ? await oldestNodes() : [])];
  for (const node of runtimes) {
    const { stdout, stderr } = await run(node, ['--no-warnings', 'app.mjs'], { cwd: app });
    assert.equal(stdout, 'hello world\ndone\n200\nhello kit function\n', node);
    assert.equal(stderr, '');
  }
  const { stdout } = await run(join(app, 'node_modules', 'workron', 'bin', 'workron'), ['--version'], { cwd: app });
  assert.match(stdout, /^\d+\.\d+\.\d+/);
});

const TYPED = `
  import { job, open } from 'workron';
  import { Client } from 'workron/client';
  import { job as declare } from 'workron/job';
  import { openTestKit } from 'workron/testing';
  import { exerciseStore } from 'workron/testing/contract';
  const hello = job('hello', { run: (name: string) => 'hello ' + name });
  const workron = await open('memory:');
  const text: string = await (await workron.submit(hello, 'world')).result();
  // @ts-expect-error the types are there, not any
  await workron.submit(hello, 5);
  export { Client, declare, exerciseStore, openTestKit, text };
`;

test('package: its declarations compile in a project that checks those of its libraries', async () => {
  const app = join(folder.path, 'app');
  await mkdir(join(app, 'node_modules', '@types'), { recursive: true });
  await symlink(join(root, 'node_modules', '@types', 'node'), join(app, 'node_modules', '@types', 'node'));
  await writeFile(join(app, 'typed.mts'), TYPED);
  const options = { module: 'nodenext', target: 'es2024', strict: true, exactOptionalPropertyTypes: true };
  const compilerOptions = { ...options, skipLibCheck: false, noEmit: true, types: ['node'] };
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.mts'] }));
  const { stdout } = await run(bin('tsc'), ['-p', app]).catch((error: { stdout: string }) => error);
  assert.equal(stdout, '');
  const { stdout: named } = await run('grep', [
    '-rl',
    'prom-client',
    join(app, 'node_modules/workron/dist/types'),
  ]).catch((error: { stdout: string }) => error);
  assert.equal(named, '', 'no declaration names prom-client');
});

test('package: the published code passes the contract on SQLite on the oldest runtimes', {
  skip: fullOnly('package: on the oldest runtimes'),
}, async () => {
  const published = join(folder.path, 'contract', 'dist');
  await bundle(published, { 'sqlite-contract': 'test/store/sqlite/contract.test.ts' });
  await symlink(join(root, 'node_modules'), join(folder.path, 'contract', 'node_modules'));
  for (const node of await oldestNodes()) {
    const { stdout } = await run(node, ['--no-warnings', '--test', '--test-reporter=tap', 'sqlite-contract.js'], {
      cwd: published,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      maxBuffer: 64 * 1024 * 1024,
    });
    assert.match(stdout, /^# fail 0$/m);
    assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) > 400, node);
  }
});

test('package: run-as holds on the oldest runtimes', {
  skip:
    fullOnly('package: on the oldest runtimes') ||
    (process.getuid?.() === 0 ? false : 'only root can act as another user'),
}, async () => {
  const published = join(folder.path, 'run-as', 'dist');
  await bundle(published, { 'run-as': 'test/worker/run-as.test.ts' });
  await symlink(join(root, 'node_modules'), join(folder.path, 'run-as', 'node_modules'));
  for (const node of await oldestNodes()) {
    const { stdout } = await run(node, ['--no-warnings', '--test', '--test-reporter=tap', 'run-as.js'], {
      cwd: published,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    assert.match(stdout, /^# fail 0$/m);
    assert.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) > 20, node);
  }
});

test('package: an older runtime is refused with one sentence, before anything is opened', {
  skip: fullOnly('package: on the oldest runtimes'),
}, async () => {
  const node = await nodeOf(folder.path, '22.19.0');
  const app = join(folder.path, 'app');
  const env = { PATH: `${dirname(node)}:/usr/bin:/bin` };
  const command = join(app, 'node_modules', 'workron', 'bin', 'workron');
  await assert.rejects(run(command, ['up', '--db-url', './never.db', '--port', '0'], { cwd: app, env }), {
    code: 1,
    stdout: '',
    stderr: 'error: Workron needs Node 22.20, 24.7 or newer; this is Node 22.19.0\n',
  });
  await assert.rejects(stat(join(app, 'never.db')));
});

test('package: the installed command serves the page, and its texts name workron', async () => {
  const app = join(folder.path, 'app');
  await using workron = await startWorkron({
    command: join(app, 'node_modules', 'workron', 'bin', 'workron'),
    args: ['up', '--port', '0', '--db-url', 'memory:'],
    cwd: app,
  });
  const page = await fetch(`${workron.url}/ui/`);
  assert.equal(page.status, 200);
  assert.match(workron.output(), /^\s+workron jobs /m);
  assert.doesNotMatch(workron.output(), /bin\/workron/);
});

/** An isolated job is in a module of its own, as its thread loads that module. */
const ISOLATED = `
  import { Fatal, job } from 'workron';
  export const risky = job('risky', {
    isolate: import.meta.url,
    maxAttempts: 5,
    run: () => { throw new Fatal('never again'); },
  });
`;
const BUNDLED = `
  import { job, open } from 'workron';
  import { risky } from './isolated.mjs';
  const hello = job('hello', { run: (name) => 'hello ' + name });
  for (const place of ['memory:', './jobs.db']) {
    const workron = await open(place, { log: 'silent' });
    await workron.start({ jobs: [hello, risky], commands: true });
    console.log(await (await workron.submit(hello, place)).result());
    console.log((await (await workron.submitCommand('true')).ended()).status);
    const failed = await (await workron.submit(risky)).ended();
    console.log(failed.status, failed.attempts, failed.error.split('\\n')[0]);
    await workron.stop();
  }
`;

test('package: an application that is bundled with it runs without it, its files and its dependencies', async () => {
  const app = join(folder.path, 'app');
  await writeFile(join(app, 'isolated.mjs'), ISOLATED);
  await writeFile(join(app, 'bundled.mjs'), BUNDLED);
  for (const format of ['esm', 'cjs'] as const) {
    const alone = join(folder.path, `alone-${format}`);
    await bundleApplication(app, alone, format);
    const { stdout, stderr } = await run(process.execPath, ['--no-warnings', 'bundled.js'], { cwd: alone });
    const ends = (place: string) => `hello ${place}\ndone\nfailed 1 Fatal: never again\n`;
    assert.equal(stdout, ends('memory:') + ends('./jobs.db'), format);
    assert.equal(stderr, '', format);
  }
});

/** One file for the application and one for the module of its isolated job, with everything they import. */
async function bundleApplication(app: string, target: string, format: 'esm' | 'cjs'): Promise<void> {
  await mkdir(target);
  await writeFile(join(target, 'package.json'), JSON.stringify({ type: format === 'esm' ? 'module' : 'commonjs' }));
  for (const name of ['bundled', 'isolated']) {
    const input = join(app, `${name}.mjs`);
    // A bundle in the form of CommonJS cannot wait at its top, and has no address.
    const wrap: Plugin = {
      name: 'wrap',
      transform: (code, id) => {
        const isolate = `'${pathToFileURL(join(target, 'isolated.js')).href}'`;
        if (id.endsWith('isolated.mjs')) return code.replace('import.meta.url', isolate);
        if (id !== input) return undefined;
        const [imports, body] = code.split('  const hello') as [string, string];
        return `${imports}(async () => { const hello${body} })();`;
      },
    };
    const bundle = await rolldown({
      input,
      plugins: [wrap],
      platform: 'node',
      logLevel: 'silent',
      external: ['@opentelemetry/api'],
    });
    await bundle.write({ dir: target, entryFileNames: `${name}.js`, format, codeSplitting: false });
    await bundle.close();
  }
}

/** Two custom stores: the second one breaks a promise, since its claims return more jobs than the limit. */
const CONTRACT = `
  import { exerciseStore, openTestMemory } from 'workron/testing/contract';
  import { open } from 'workron';
  const effort = { races: 8, graphRaces: 2, fairJobs: 100, fairKeys: 50 };
  exerciseStore('of my own', openTestMemory, effort);
  const { store } = await openTestMemory();
  await (await open(store, { log: 'silent' })).stop();
`;
const BROKEN = `
  import { exerciseStore, openTestMemory } from 'workron/testing/contract';
  exerciseStore('broken', async () => {
    const opened = await openTestMemory();
    const claim = opened.store.claim.bind(opened.store);
    opened.store.claim = (request, signal) => claim({ ...request, limit: request.limit + 1 }, signal);
    return opened;
  });
`;

test('package: the contract suite accepts a correct custom store and rejects a faulty one', async () => {
  const app = join(folder.path, 'app');
  await writeFile(join(app, 'store.test.mjs'), CONTRACT);
  await writeFile(join(app, 'broken.test.mjs'), BROKEN);
  const suite = async (file: string, ...args: string[]) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const ran = await run(process.execPath, ['--test', '--test-reporter=tap', ...args, file], { cwd: app, env }).catch(
      (error: { stdout: string }) => error,
    );
    const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(ran.stdout)?.[1]);
    return { pass: count('pass'), fail: count('fail'), text: ran.stdout };
  };
  const { pass, fail, text } = await suite('store.test.mjs');
  assert.equal(fail, 0, text);
  assert.ok(pass > 300, `${pass} tests`);
  assert.ok((await suite('broken.test.mjs', '--test-name-pattern=^claim')).fail > 0);
});

test('package: importing the library has no side effects', async () => {
  const app = join(folder.path, 'app');
  const script = `
    for (const name of ['workron', 'workron/client', 'workron/job', 'workron/testing', 'workron/testing/contract']) await import(name);
    const { setImmediate } = await import('node:timers/promises');
    await setImmediate();
    const open = process.getActiveResourcesInfo().filter((name) => !/^(Pipe|TTY|FSReq|CloseReq|Immediate)/.test(name));
    console.log(open.join(), process.listenerCount('SIGTERM'));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: app });
  assert.equal(stdout, ' 0\n');
});

test('package: importing the library loads no dependency and neither of the databases; open loads the one it needs', async () => {
  const app = join(folder.path, 'app');
  const script = `
    const { registerHooks } = await import('node:module');
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { open } = await import('workron');
    const names = () => loaded.map((url) => url.replace(/.*node_modules.(?=[^/]+.)/, '').replace(/-[\\w-]{8}[.]js$/, '')).filter((url) => !url.startsWith('node:'));
    console.log(names().filter((name) => !/^workron.dist.(index[.]js|chunk-(entry|job))$/.test(name)).join());
    await (await open('memory:', { log: 'silent' })).stop();
    console.log(['zod', 'workron/dist/chunk-sqlite', 'workron/dist/chunk-postgres'].map((part) => names().some((name) => name.startsWith(part))).join());`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], { cwd: app });
  assert.equal(stdout, '\ntrue,true,false\n');
});

test("package: a command of a client loads no package but commander, nothing of the engine, and not Node's fetch", async () => {
  const app = join(folder.path, 'app');
  await using server = await startWorkron({ args: ['up', '--port', '0', '--db-url', 'memory:'], cwd: app });
  const hooks = `
    import { writeSync } from 'node:fs';
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => { writeSync(2, 'loads ' + url + '\\n'); return next(url, context); } });
    const isFetch = (name) => name.endsWith('undici/undici');
    process.on('exit', () => process.moduleLoadList.some(isFetch) && writeSync(2, 'loads /node_modules/fetch\\n'));`;
  const cli = join(app, 'node_modules', 'workron', 'dist', 'cli.js');
  const loadedBy = async (...args: string[]): Promise<string[]> => {
    const preload = `data:text/javascript,${encodeURIComponent(hooks)}`;
    const env = { ...process.env, WORKRON_URL: server.url };
    const { stderr } = await run(process.execPath, ['--import', preload, cli, ...args], { cwd: app, env });
    const names = [...stderr.matchAll(/^loads .*\/node_modules\/(?:workron\/dist\/)?(\S+)/gm)].map(([, name]) =>
      (name as string).replace(/^(commander)\/.*/, '$1').replace(/-[\w-]{8}\.js$/, ''),
    );
    return [...new Set(names)].sort();
  };
  const stages = ['client', 'common', 'entry', 'job', 'program'];
  const program = [...stages.map((name) => `chunk-${name}`), 'cli.js', 'commander'];
  const command = ['chunk-commands', ...program].sort();
  assert.deepEqual(await loadedBy('--version'), program);
  for (const args of [['status'], ['jobs'], ['submit', '--', 'true'], ['workers'], ['schedule', 'ls']]) {
    assert.deepEqual(await loadedBy(...args), command, args.join(' '));
  }
});

test('package: workron/client and workron/job are small and load no package', async () => {
  const dist = join(folder.path, 'app', 'node_modules', 'workron', 'dist');
  for (const [name, most] of Object.entries({ client: 15_000, job: 5_000 })) {
    const bundled = await rolldown({ input: join(dist, `${name}.js`), platform: 'browser' });
    const { output } = await bundled.generate({ format: 'esm', minify: true, codeSplitting: false });
    await bundled.close();
    assert.deepEqual(output[0].imports, []);
    assert.ok(output[0].code.length <= most, `${name}: ${output[0].code.length} bytes`);
  }
});

test('package: workron/client imports nothing of Node and runs in a browser', async () => {
  const built = await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, lib: { entry: join(root, 'src', 'client.ts'), formats: ['iife'], name: 'workronClient' } },
  });
  const [first] = (Array.isArray(built) ? built : [built]) as { output: { code?: string }[] }[];
  const code = first?.output[0]?.code ?? '';
  assert.doesNotMatch(code, /node:|__vite-browser-external|\bBuffer\b|\bprocess\./);
  await using server = await openTestServer();
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    // A page of an application at the same origin: what the API answers may not fetch anything.
    const blank = `${server.url}/blank`;
    await page.route(blank, (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
    await page.goto(blank);
    const seen = await page.evaluate(`(async () => {
      ${code}
      const client = new workronClient.Client({ url: location.origin });
      const job = await client.submit({ command: 'true', delay: '1h' });
      const wrong = await client.submit({ command: 'true', priority: 1e9 }).catch((error) => error.code);
      return [(await client.readJob(job.id)).status, wrong, (await client.cancelJob(job.id)).status];
    })()`);
    assert.deepEqual(seen, ['scheduled', 'bad_request', 'cancelled']);
  } finally {
    await browser.close();
  }
});
