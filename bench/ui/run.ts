/**
 * The speed of the dashboard: its size, its first paint, and how it scrolls and filters a million jobs.
 *
 *   npm run bench:ui [-- --jobs 1000000] [sqlite postgres]
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { Client } from '../../src/api/client.ts';
import { openBrowser } from '../../test/kit/browser.ts';
import { openScreen } from '../../test/kit/dashboard.ts';
import { buildPage } from '../../test/kit/page-build.ts';
import { startPostgres } from '../../test/kit/postgres.ts';
import { startWorkron, type WorkronProcess } from '../../test/kit/workron-process.ts';
import { connectAdmin } from '../admin.ts';
import { percentile } from '../measure.ts';
import { compareDrain, type FullStore, fullPostgres, fullSqlite } from './drain.ts';
import { longestTask } from './longest-task.ts';
import { fillPostgres, fillSqlite } from './million.ts';
import { askOften, QUESTIONS } from './questions.ts';

const { values, positionals } = parseArgs({
  options: { jobs: { type: 'string', default: '1000000' } },
  allowPositionals: true,
});
const count = Number(values.jobs);
const stores = positionals.length === 0 ? ['sqlite', 'postgres'] : positionals;

buildPage();
await weigh();
for (const store of stores) await measure(store);

/** The bytes that the first screen fetches, compressed as the server sends them. */
async function weigh(): Promise<void> {
  const folder = join(import.meta.dirname, '..', '..', 'dist-ui');
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  const files = [
    'index.html',
    ...[...html.matchAll(/"\.\/([\w./-]+\.(?:js|css))"/g)].map(([, file]) => file as string),
  ];
  const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(join(folder, file))).length));
  say('first screen, gzipped', `${kilobytes(sizes.reduce((sum, size) => sum + size, 0))} (at most 350 kB)`);
}

async function measure(store: string): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'workron-bench-ui-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const postgres = store === 'postgres' ? stack.use(await startPostgres({ durable: true })) : null;
  const env = postgres === null ? {} : { WORKRON_DB_URL: postgres.url, WORKRON_DB_SCHEMA: 'bench' };
  const start = () => startWorkron({ args: ['up', '--port', '0'], cwd: folder, env: { LANG: 'C.UTF-8', ...env } });
  // The first start creates the tables, the second one uses the full store.
  await (await start())[Symbol.asyncDispose]();
  if (postgres === null) fillSqlite(join(folder, 'workron.db'), count);
  else await fillPostgres(postgres.url, 'bench', count);
  {
    await using server = await start();
    const database = postgres === null ? [] : [stack.use(await connectAdmin(postgres.url)).postmaster];
    await ask(store, server, database);
    await look(store, server.url, count > 100_000);
  }
  const file = join(folder, 'workron.db');
  await drain(store, postgres === null ? fullSqlite(file) : fullPostgres(postgres.url, 'bench'));
}

/** The page's lists and filters. */
async function ask(store: string, { url, pid }: WorkronProcess, database: readonly number[]): Promise<void> {
  for (const [what, query] of QUESTIONS) {
    const { p95Ms, processorMs } = await askOften(url, query, [pid, ...database]);
    say(`${store}: ${what}`, `p95 ${p95Ms.toFixed(0)} ms (at most 200), ${processorMs.toFixed(1)} ms of processor`);
  }
}

/** The first meaningful paint, and a long scroll. */
async function look(store: string, url: string, isBeyondWindow: boolean): Promise<void> {
  const browser = await openBrowser();
  try {
    await using screen = await openScreen(browser, url, '/ui/');
    const { page } = screen;
    await page.locator('.tile-count').first().waitFor();
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      await page.goto(`${url}/ui/`);
      times.push(
        await page
          .locator('.tile-count')
          .first()
          .evaluate(() => performance.now()),
      );
    }
    say(`${store}: overview is there after`, `median ${percentile(times, 0.5).toFixed(0)} ms (at most 1,000)`);
    await page.goto(`${url}/ui/jobs`);
    await page.locator('.job-row[data-job]').first().waitFor();
    await page.locator('.job-scroll').hover();
    let maxRows = 0;
    const { wallMs, processorMs } = await longestTask(browser, page, async () => {
      for (let turn = 0; turn < 300; turn += 1) {
        await page.mouse.wheel(0, 900);
        await page.waitForTimeout(16);
        if (turn % 20 === 0) maxRows = Math.max(maxRows, await page.locator('.job-space .job-row').count());
      }
    });
    const last = await page.locator('.job-row[data-job]').last().getAttribute('aria-rowindex');
    say(
      `${store}: scrolled to row ${last}`,
      `${maxRows} rows in the page (at most 200), longest task ${wallMs.toFixed(0)} ms, ${processorMs.toFixed(0)} ms of processor (at most 100)`,
    );
    await readLog(store, browser, page, url);
    if (!isBeyondWindow) return;
    await page.goto(`${url}/ui/jobs?q=no%20such%20thing`);
    await page.getByText('The newest 100,000 jobs were searched').waitFor();
  } finally {
    await browser.close();
  }
}

/** A log of ten MiB: opened, followed to its end, and scrolled back to the top. */
async function readLog(store: string, browser: Browser, page: Page, url: string): Promise<void> {
  const client = new Client({ url });
  const command = `awk 'BEGIN { for (i = 0; i < 131072; i++) printf "\\033[32mline\\033[0m %08d of a log that is ten MiB long, with a colour. .......\\n", i }'`;
  const { id } = await client.submit({ command });
  await client.waitJob(id, { timeout: '120s' });
  const { wallMs, processorMs } = await longestTask(browser, page, async () => {
    await page.goto(`${url}/ui/jobs/${id}`);
    await page.locator('.log-text', { hasText: '00131071' }).waitFor();
    await page.locator('.log-scroll').hover();
    for (let turn = 0; turn < 60; turn += 1) {
      await page.mouse.wheel(0, -2_000);
      await page.waitForTimeout(16);
    }
  });
  say(
    `${store}: a log of 10 MiB`,
    `longest task ${wallMs.toFixed(0)} ms, ${processorMs.toFixed(0)} ms of processor (at most 100)`,
  );
}

/** The drain rate with a million jobs and the indexes of the lists. */
async function drain(store: string, full: FullStore): Promise<void> {
  const figures = await compareDrain(full, 3, 10_000);
  const perSecond = (value: number): string => `${Math.round(value).toLocaleString('en')} a second`;
  say(`${store}: no-op jobs drained`, perSecond(figures.with));
  say(`${store}: without the indexes of lists`, perSecond(figures.without));
}

function say(what: string, figure: string): void {
  console.log(`${what.padEnd(44)} ${figure}`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1_000).toFixed(0)} kB`;
}
