/**
 * The TypeScript blocks of the documents: each is a module that the compiler accepts and that runs, on a PostgreSQL. What it uses
 * without importing it comes from test/docs/given.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { openTestServer } from '../kit/http.ts';
import { createTestDatabase, openTestPostgres, queriesTo } from '../kit/postgres.ts';
import { temporaryFolder } from '../kit/workron-process.ts';
import * as application from './given/application.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const stack = new AsyncDisposableStack();
let folder: string;
let database: string;
let server: string;

const PAGES = ['README.md', ...['library', 'testing', 'capacity', 'coming-from'].map((name) => `docs/${name}.md`)];
const RUNNING = ['workron', 'client', 'app', 'fastify'];
/** What the rest of the application does before and after a block that contains the text. */
const BEFORE: Record<string, string> = { 'job: sendReport': 'await workron.start({ jobs: [sendReport] });' };
const AFTER: Record<string, string> = {
  'confirmOrder.handle':
    'await workron.start({ jobs: [confirm] }); await workron.submit(confirmOrder, { orderId: 1 });',
};

interface Block {
  name: string;
  code: string;
  /** The same job in another system: its packages are not here. */
  foreign: boolean;
}

function blocksOf(page: string): Block[] {
  const content = readFileSync(join(root, page), 'utf8');
  return [...content.matchAll(/^```ts\n(.*?)^```\n(\n(becomes)\n)?/gms)].map((match) => ({
    name: `${page}:${content.slice(0, match.index).split('\n').length}`,
    code: match[1] as string,
    foreign: match[3] !== undefined,
  }));
}

const blocks = PAGES.flatMap(blocksOf);
const own = blocks.filter(({ foreign }) => !foreign);
const fileOf = ({ name }: Block) => `${name.replaceAll(/\W/g, '-')}.ts`;

/** The block as a module, on the same lines. */
function moduleOf({ code }: Block): string {
  const given = (file: string, names: readonly string[]) => {
    const missing = names.filter((name) => {
      const declared = new RegExp(`(const|function|import .*) \\{? ?\\b${name}\\b|import .*\\b${name}\\b.* from`).test(
        code,
      );
      return new RegExp(`(?<![.'\\w])${name}\\b(?!:)`).test(code + around) && !declared;
    });
    return `import { ${missing.join(', ')} } from '${join(import.meta.dirname, 'given', file)}'; `;
  };
  const of = (lines: Record<string, string>) =>
    Object.entries(lines).flatMap(([text, line]) => (code.includes(text) ? [line] : []));
  const around = [...of(BEFORE), ...of(AFTER)].join(' ');
  const imports = given('application.ts', Object.keys(application)) + given('running.ts', RUNNING);
  return `${imports}${of(BEFORE).join(' ')}${code}${of(AFTER).join(' ')}\nexport {};\n`;
}

before(async () => {
  folder = stack.use(await temporaryFolder()).path;
  database = stack.use(await createTestDatabase()).url;
  stack.use(await openTestPostgres({ url: database, schema: 'workron' }));
  server = stack.use(await openTestServer()).url;
  await queriesTo(database)(
    'create table orders (id serial primary key, item text); create table mails (order_id int)',
  );
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const sources = (name: string) => [join(root, 'src', name)];
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      // As most applications are checked.
      noUncheckedIndexedAccess: false,
      noUnusedLocals: false,
      rewriteRelativeImportExtensions: false,
      paths: {
        workron: sources('index.ts'),
        'workron/client': sources('client.ts'),
        'workron/testing': sources('testing.ts'),
        'workron/testing/contract': [join(root, 'contract', 'index.ts')],
      },
    },
    include: ['*.ts', ...globSync('src/**/*.d.ts', { cwd: root }).map((file) => join(root, file))],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  for (const block of own) writeFileSync(join(folder, fileOf(block)), moduleOf(block));
});
after(() => stack.disposeAsync());

test('docs: every TypeScript block of the library passes the compiler', async () => {
  assert.ok(own.length >= 20, `${own.length} blocks`);
  const args = ['--noEmit', '--singleThreaded', '-p', folder];
  const { stdout } = await run(join(root, 'node_modules', '.bin', 'tsc'), args).catch(
    (error: { stdout: string }) => error,
  );
  assert.equal(stdout, '');
});

for (const { name, code } of blocks.filter(({ foreign }) => foreign)) {
  test(`docs: ${name} is TypeScript, of another system`, () => {
    stripTypeScriptTypes(code);
  });
}

/** Runs a block to its end: it shows no more than the start of an application, which would go on. */
const RUN = `const [block, running] = process.argv.slice(1);
await import(block);
await (await import(running)).settled();
process.exit(0);`;

describe('docs: TypeScript', { concurrency: 2 }, () => {
  for (const block of own) {
    // The contract suite of a store is run by the tests of the package.
    const skip = block.code.includes('exerciseStore') && 'checked only';
    test(`docs: ${block.name} runs`, { skip }, async () => {
      const file = join(folder, fileOf(block));
      const text = readFileSync(file, 'utf8')
        .replaceAll("'postgres://localhost/shop'", "process.env['DOCS_URL']")
        .replaceAll('https://workron.example', server)
        .replaceAll(/delay: '\d[sm]'/g, "delay: '10ms'");
      writeFileSync(file, text);
      const resolve = join(root, 'test', 'kit', 'resolve-workron.ts');
      const args = ['--import', resolve, '--input-type=module', '-e', RUN];
      const { NODE_TEST_CONTEXT: _, ...env } = process.env;
      await run(process.execPath, [...args, file, join(import.meta.dirname, 'given', 'running.ts')], {
        env: { ...env, DOCS_URL: database },
        timeout: 120_000,
      });
    });
  }

  test('docs: the SQL of library.md submits jobs', async () => {
    const content = readFileSync(join(root, 'docs', 'library.md'), 'utf8');
    const [, sql = assert.fail()] = /^```sql\n(.*?)^```/ms.exec(content) ?? [];
    const query = queriesTo(database);
    for (const statement of sql.trim().split('\n')) assert.equal((await query(statement)).length, 1);
  });
});
