/** A real Chromium: `CHROMIUM_PATH`, else an installed one, else the one of the npm package. */

import { existsSync } from 'node:fs';
import { type Browser, chromium as launcher, type Page } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** No background requests, no updates, and root may run it. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** `env` is added to the environment of the browser. */
export async function openBrowser(env: Record<string, string> = {}): Promise<Browser> {
  const options = { args: QUIET, env: { ...process.env, ...env } as Record<string, string> };
  const given = process.env['CHROMIUM_PATH'] ?? INSTALLED.find((path) => existsSync(path));
  if (given !== undefined) return launcher.launch({ executablePath: given, ...options });
  const { default: chromium } = await import('@sparticuz/chromium');
  // Not with its recommended flags: they put all windows in one process and turn off web security.
  return launcher.launch({ executablePath: await chromium.executablePath(), ...options });
}

let shared: Promise<Browser> | undefined;
let users = 0;

/** One browser for all who use it in this process at the same time. Each of them opens contexts of its own. */
export async function shareBrowser(): Promise<{ browser: Browser } & AsyncDisposable> {
  users += 1;
  shared ??= openBrowser();
  const browser = await shared;
  return {
    browser,
    async [Symbol.asyncDispose]() {
      users -= 1;
      if (users > 0) return;
      shared = undefined;
      await browser.close();
    },
  };
}

export interface Watched {
  page: Page;
  /** The problems so far: console errors, exceptions, requests to other origins. */
  problems: string[];
}

/** Collects console errors, exceptions and requests to other origins. */
export function watch(page: Page, origin: string): Watched {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:') && !url.startsWith('blob:'))
      problems.push(`request: ${url}`);
  });
  return { page, problems };
}
