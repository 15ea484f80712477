/** The page on PostgreSQL with two schedulers: each shows the changes of the other. */

import { test } from 'node:test';
import { shareBrowser } from '../kit/browser.ts';
import { openScreen } from '../kit/dashboard.ts';
import { buildPage } from '../kit/page-build.ts';
import { openTestPostgres } from '../kit/postgres.ts';
import { api, startWorkron, temporaryFolder } from '../kit/workron-process.ts';

test('two schedulers on PostgreSQL: a job submitted at one runs live on the page of the other', async () => {
  buildPage();
  await using folder = await temporaryFolder();
  await using store = await openTestPostgres();
  const env = { WORKRON_DB_URL: store.url, WORKRON_DB_SCHEMA: store.schema, LANG: 'C.UTF-8' };
  const start = (args: string[]) => startWorkron({ args: [...args, '--port', '0'], env, cwd: folder.path });
  await using first = await start(['up']);
  await using second = await start(['scheduler']);
  await using shared = await shareBrowser();
  await using screen = await openScreen(shared.browser, second.url, '/ui/');
  const { page } = screen;
  await page.getByRole('heading', { name: 'Welcome' }).waitFor();
  const { id } = await api<{ id: string }>(first.url, '/jobs', {
    name: 'seen-elsewhere',
    command: 'echo one; until [ -e go ]; do sleep 0.05; done; echo two',
  });
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.getByRole('link', { name: 'seen-elsewhere' }).first().click();
  await page.locator('.log-text', { hasText: 'one' }).waitFor();
  await api(first.url, '/jobs', { command: 'touch go' });
  await page.locator('.log-text', { hasText: 'two' }).waitFor();
  await page.locator('.page-head [data-state="done"]').waitFor();

  await api(
    first.url,
    '/jobs',
    [1, 2, 3].map(() => ({ name: 'broken', command: '[ -e mended ]', max_attempts: 1 })),
  );
  await page.goto(`${second.url}/ui/jobs?name=broken&status=failed`);
  await page.locator('.job-row [data-state="failed"]').nth(2).waitFor();
  const { id: mend } = await api<{ id: string }>(first.url, '/jobs', { command: 'touch mended' });
  await api(first.url, `/jobs/${mend}/wait?timeout=60s`);
  await page.getByRole('button', { name: 'Retry…' }).click();
  await page.getByRole('button', { name: /^Retry \d+ jobs?$/ }).click();
  await page.getByText('3 retried').waitFor();
  await page.goto(`${second.url}/ui/jobs?name=broken&status=done`);
  await page.locator('.job-row [data-state="done"]').nth(2).waitFor();
  await page.goto(`${second.url}/ui/jobs/${id}`);
  await page.locator('.log-text', { hasText: 'two' }).waitFor();
});
