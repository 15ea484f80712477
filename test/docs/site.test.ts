/** `npm run docs`: the pages that Workron serves at /docs/. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { AxeBuilder } from '@axe-core/playwright';
import { openBrowser } from '../kit/browser.ts';
import { openTestServer } from '../kit/http.ts';

const root = join(import.meta.dirname, '..', '..');
const built = join(root, 'dist-docs');

let server: Awaited<ReturnType<typeof openTestServer>>;
before(async () => {
  await promisify(execFile)(process.execPath, [join(root, 'build', 'docs', 'run.ts')]);
  server = await openTestServer();
});
after(() => server[Symbol.asyncDispose]());

const pages = () => readdirSync(built).filter((file) => file.endsWith('.html'));

test('docs site: every document is a page, and every link and picture on the pages is there', () => {
  const files = new Set(readdirSync(built, { recursive: true }) as string[]);
  // The menu is the index.
  const documents = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.md') && file !== 'README.md');
  assert.deepEqual(
    documents.filter((file) => !files.has(file.replace(/md$/, 'html'))),
    [],
  );
  const anchors = new Map(
    pages().map((page) => {
      const html = readFileSync(join(built, page), 'utf8');
      return [page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))];
    }),
  );
  const broken: string[] = [];
  for (const page of pages()) {
    const html = readFileSync(join(built, page), 'utf8');
    for (const [, place = ''] of html.matchAll(/ (?:href|src|srcset)="([^"]*)"/g)) {
      if (/^[a-z]+:/i.test(place)) continue;
      const [file, anchor] = place.split('#');
      const target = file === '' ? page : (file as string);
      if (!files.has(target) || (anchor !== undefined && !anchors.get(target)?.has(anchor)))
        broken.push(`${page}: ${place}`);
    }
  }
  assert.deepEqual(broken, []);
});

test('docs site: the server answers with pages, redirects to the folder, and knows nothing outside of it', async () => {
  const seen = async (path: string) => {
    const { status, headers } = await fetch(server.url + path, { redirect: 'manual' });
    return [status, headers.get('location') ?? headers.get('content-type')];
  };
  assert.deepEqual(await seen('/docs'), [302, '/docs/']);
  assert.deepEqual(await seen('/docs/'), [200, 'text/html; charset=utf-8']);
  assert.deepEqual(await seen('/docs/api.html'), [200, 'text/html; charset=utf-8']);
  assert.deepEqual(await seen('/docs/search.json'), [200, 'application/json; charset=utf-8']);
  for (const path of ['/docs/nothing.html', '/docs/..%2fpackage.json', '/docs/%2e%2e/package.json']) {
    assert.equal((await seen(path))[0], 404, path);
  }
});

test('docs site: search leads to a section, and axe finds no fault', async () => {
  const browser = await openBrowser();
  try {
    const context = await browser.newContext();
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(`${server.url}/docs/`);
    await page.keyboard.press('/');
    await page.keyboard.type('lock order');
    await page.locator('#found a', { hasText: 'Lock order' }).first().click();
    await page.waitForURL('**/architecture.html#lock-order');
    for (const name of ['index', 'api-errors', 'recipes']) {
      await page.goto(`${server.url}/docs/${name}.html`);
      const { violations } = await new AxeBuilder({ page }).analyze();
      assert.deepEqual(
        violations.map(({ id, nodes }) => [id, nodes[0]?.html]),
        [],
        name,
      );
    }
    assert.deepEqual(problems, []);
  } finally {
    await browser.close();
  }
});
