/** A real Chromium: `CHROMIUM_PATH`, one that is installed, else the one that npm brings. */

import { existsSync } from 'node:fs';
import { type Browser, chromium as launcher, type Page } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Nobody is phoned, nothing is updated, and root may run it. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export async function openBrowser(): Promise<Browser> {
  const given = process.env['CHROMIUM_PATH'] ?? INSTALLED.find((path) => existsSync(path));
  if (given !== undefined) return launcher.launch({ executablePath: given, args: QUIET });
  const { default: chromium } = await import('@sparticuz/chromium');
  // Not with the flags it recommends: one process for all windows, and no web security.
  return launcher.launch({ executablePath: await chromium.executablePath(), args: QUIET });
}

export interface Watched {
  page: Page;
  /** Whatever went wrong so far: console errors, exceptions, requests elsewhere. */
  problems: string[];
}

/** Watches a page for what must never happen. */
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
