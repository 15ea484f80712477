/** The dashboard as users have it: a real server with its worker, and a real browser. */

import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { Client } from '../../src/api/client.ts';
import { effort } from '../effort.ts';
import { shareBrowser, watch } from './browser.ts';
import { buildPage } from './page-build.ts';
import { startWorkron, temporaryFolder, type WorkronProcess } from './workron-process.ts';

export interface Dashboard extends AsyncDisposable {
  url: string;
  /** The folder of the server, with its file. */
  folder: string;
  client: Client;
  /** Opens a path in a new window. Closing it fails the test if there were errors or requests to other origins. */
  open(path: string, options?: ScreenOptions): Promise<Screen>;
  /** Kills the server and starts it again on the same port and file; `meanwhile` runs while it is away. */
  restart(meanwhile?: () => Promise<void>): Promise<void>;
}

export interface ScreenOptions extends Omit<BrowserContextOptions, 'locale'> {
  /** `null`: the one of the browser's environment. */
  locale?: string | null;
  /** Console messages that the test expects. */
  allow?: RegExp;
}

export interface Screen extends AsyncDisposable {
  page: Page;
  problems: string[];
}

/** Much longer than any step takes. */
const PATIENCE_MS = effort.waitMs;

export async function openDashboard({
  token,
  args = [],
}: {
  token?: string;
  args?: string[];
} = {}): Promise<Dashboard> {
  buildPage();
  const folder = await temporaryFolder();
  const start = (port: string): Promise<WorkronProcess> =>
    startWorkron({
      args: ['up', '--port', port, ...args],
      cwd: folder.path,
      env: { LANG: 'C.UTF-8', ...(token === undefined ? {} : { WORKRON_TOKEN: token }) },
    });
  let [server, shared] = await Promise.all([start('0'), shareBrowser()]);
  const { url } = server;
  return {
    url,
    folder: folder.path,
    client: new Client({ url, token: token ?? null }),
    open: (path, options) => openScreen(shared.browser, url, path, options),
    async restart(meanwhile) {
      await server[Symbol.asyncDispose]();
      await meanwhile?.();
      server = await start(new URL(url).port);
    },
    async [Symbol.asyncDispose]() {
      await shared[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export async function openScreen(
  browser: Browser,
  url: string,
  path: string,
  { allow, locale = 'en-GB', ...options }: ScreenOptions = {},
): Promise<Screen> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...(locale === null ? {} : { locale }),
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const { problems } = watch(page, url);
  await page.goto(url + path);
  return {
    page,
    problems,
    async [Symbol.asyncDispose]() {
      await context.close();
      assert.deepEqual(
        problems.filter((problem) => !allow?.test(problem)),
        [],
        `at ${path}`,
      );
    },
  };
}
