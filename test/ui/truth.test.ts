/** What the dashboard claims is true: outcomes, progress, counts, and lines that are copied. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { openBrowser } from '../kit/browser.ts';
import { type Dashboard, openDashboard, openScreen } from '../kit/dashboard.ts';
import { waitForWorkflow } from '../kit/page-seed.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin');

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard[Symbol.asyncDispose]());

test('every line of the welcome page runs as it is', async () => {
  await using screen = await dashboard.open('/ui/');
  const { page } = screen;
  await page.getByRole('heading', { name: 'Welcome to Workron' }).waitFor();
  // The first job replaces the welcome by the overview.
  const lines: string[] = [];
  for (const label of ['With the command line', 'A workflow', 'Every 15 minutes']) {
    lines.push(await page.getByLabel(label).innerText());
  }
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, WORKRON_URL: 'http://127.0.0.1:1' };
  for (const line of lines) await promisify(execFile)('sh', ['-c', `(${line}) < /dev/null`], { env });
  await dashboard.client.deleteSchedule('heartbeat');
});

test('a schedule whose runs fail is shown as failing, in the list and on its screen', async () => {
  const { client } = dashboard;
  const job = { command: 'echo expired; exit 1', max_attempts: 1 };
  await client.createSchedule({ name: 'certs-renew', every: '1h', job });
  const { items } = await client.runSchedule('certs-renew');
  await client.waitJob(items[0]?.job_id ?? '', { timeout: '60s' });
  await using screen = await dashboard.open('/ui/schedules');
  const { page } = screen;
  const row = page.locator('tr', { hasText: 'certs-renew' });
  await row.locator('.cell[data-outcome="failed"]').waitFor();
  await row.getByText('1 of 1 failed').waitFor();
  assert.equal(await row.locator('.cell[data-outcome="done"], .cell.fill-green').count(), 0);
  await row.getByRole('link', { name: 'certs-renew', exact: true }).click();
  await page.locator('.ledger [data-state="failed"]').first().waitFor();
  await page.getByText('1 of 1 failed').first().waitFor();
});

test('progress is drawn in the list of jobs and on the job', async () => {
  const { client, url } = dashboard;
  const post = async (path: string, body: object) => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { worker_id: string; items: { id: string; attempt: number }[] };
  };
  const { id } = await client.submit({ name: 'import', handler: 'import' });
  const { worker_id: worker } = await post('/workers/register', { name: 'w', handlers: ['import'], slots: 1 });
  const claim = { worker_id: worker, handlers: ['import'], commands: false };
  const { items } = await post('/jobs/claim', claim);
  const progress = { fraction: 0.37, text: 'step 22 of 60' };
  await post(`/workers/${worker}/report`, { items: [{ job_id: id, attempt: items[0]?.attempt, progress }] });
  await using screen = await dashboard.open('/ui/jobs?name=import');
  const { page } = screen;
  const bar = page.getByRole('progressbar', { name: 'Progress' });
  await page.locator(`[data-job="${id}"]`).getByRole('progressbar').waitFor();
  await page.goto(`${url}/ui/jobs/${id}`);
  await page.getByText('step 22 of 60').waitFor();
  assert.equal(await bar.first().getAttribute('aria-valuenow'), '37');

  // A worker may hold more jobs than it has slots: some are on their way in or out.
  await client.submitAll([{ handler: 'import' }, { handler: 'import' }]);
  await post('/jobs/claim', { ...claim, limit: 2 });
  await page.goto(`${url}/ui/workers`);
  await page.getByText('1 of 1 slot').waitFor();
});

test('skipped steps are not drawn as done', async () => {
  const { client } = dashboard;
  const { id } = await client.submitWorkflow({
    name: 'broken-chain',
    steps: [
      { key: 'first', command: 'exit 1', max_attempts: 1 },
      { key: 'second', command: 'true', depends_on: ['first'] },
      { key: 'third', command: 'true', depends_on: ['second'] },
    ],
  });
  await waitForWorkflow(client, id);
  await using screen = await dashboard.open('/ui/workflows');
  const { page } = screen;
  const row = page.locator('tr', { hasText: 'broken-chain' });
  await row.getByRole('img', { name: '3 steps: 1 failed, 2 skipped' }).waitFor();
});

test('the job of a failed for_each step says which items failed', async () => {
  const { client } = dashboard;
  const { id } = await client.submitWorkflow({
    name: 'fan-out',
    steps: [{ key: 'each', command: '[ "$WORKRON_ITEM" = b ]', for_each: ['a', 'b', 'c'], max_attempts: 1 }],
  });
  await waitForWorkflow(client, id);
  const [step] = (await client.readWorkflow(id)).steps;
  await using screen = await dashboard.open(`/ui/jobs/${step?.job_id}`);
  const { page } = screen;
  await page.getByText('2 of 3 items failed.').waitFor();
  assert.equal(await page.getByText('code ?').count(), 0);
  await page.getByRole('list', { name: 'Items' }).locator('[data-state="failed"]').nth(1).waitFor();
  assert.equal(await page.getByRole('tab', { name: 'Log' }).count(), 0, 'its items have the output');
  const items = page.locator('.card', { has: page.getByRole('heading', { name: 'Items' }) });
  await items.locator('[data-state="failed"]').first().waitFor();
  await page.goto(`${dashboard.url}/ui/jobs?open=${step?.job_id}`);
  const panel = page.getByRole('complementary', { name: `Job ${step?.job_id}` });
  await panel.getByText('2 of 3 items failed.').waitFor();
  assert.equal(await panel.getByRole('log').count(), 0);
});

test('a period is shown as people write it', async () => {
  await dashboard.client.createSchedule({ name: 'poll', every: '20s', job: { command: 'true' } });
  await using screen = await dashboard.open('/ui/schedules/poll');
  const { page } = screen;
  await page.locator('.preview li').first().waitFor();
  assert.doesNotMatch(await page.locator('main').innerText(), /20000/);
});

test('copied lines name this server', async () => {
  const { id } = await dashboard.client.submit({ command: 'true' });
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await page.getByRole('button', { name: 'Copy as…' }).click();
  const port = new URL(dashboard.url).port;
  await page.getByText(`workron logs -f ${id} --url http://127.0.0.1:${port}`).waitFor();
  await page.getByText(`workron submit --url http://127.0.0.1:${port} -- true`).waitFor();
});

test('a copied line submits all of a job, also what has no flag in it', async () => {
  const spec = { command: 'printf "a\\nb\\n"\necho c', requires: ['gpu'], limits: [{ key: "customer's", max: 2 }] };
  const { id } = await dashboard.client.submit(spec);
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await page.getByRole('button', { name: 'Copy as…' }).click();
  const line = await page.locator('.copy-line', { hasText: 'Command line' }).locator('pre').innerText();
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
  const { stdout } = await promisify(execFile)('sh', ['-c', `${line} -q`], { env });
  const { command, requires, limits } = await dashboard.client.readJob(stdout.trim());
  assert.deepEqual({ command, requires, limits }, spec);
  for (const each of [id, stdout.trim()]) await dashboard.client.cancelJob(each);
});

test('the charts are drawn in a browser with a POSIX locale, labels are whole, and gaps stay gaps', async () => {
  const { id } = await dashboard.client.submit({ command: 'true' });
  await dashboard.client.waitJob(id, { timeout: '60s' });
  const browser = await openBrowser({ LANG: 'C', LC_ALL: 'C' });
  try {
    await using screen = await openScreen(browser, dashboard.url, '/ui/', { locale: null });
    const { page } = screen;
    await page.locator('.chart .bar').first().waitFor();
    await page.getByRole('button', { name: 'Wait', exact: true }).click();
    await page.locator('.chart .dot').first().waitFor();
    const cut = await page.evaluate<string[]>(`[...document.querySelectorAll('.chart svg')].flatMap((svg) => {
      const box = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text')].filter((text) => {
        const own = text.getBoundingClientRect();
        return own.left < box.left - 0.5 || own.right > box.right + 0.5 || own.top < box.top - 0.5;
      }).map((text) => text.textContent);
    })`);
    assert.deepEqual(cut, []);
  } finally {
    await browser.close();
  }
});

test('a screen that is opened while the server restarts appears when it is back', async () => {
  await using screen = await dashboard.open('/ui/', { allow: /ERR_|Failed to load|fetch/ });
  const { page } = screen;
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await dashboard.restart(async () => {
    await page.getByRole('link', { name: 'Queues', exact: true }).click();
    await page.getByText('The server does not answer').waitFor();
  });
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  assert.equal(await page.getByText('dynamically imported').count(), 0);
});

test('a tab that outlives an upgrade loads the new files', async () => {
  await using screen = await dashboard.open('/ui/', { allow: /404|ERR_/ });
  const { page } = screen;
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  // The files of the version that the tab was loaded from are gone. The route stays: taking it away while the page
  // loads again can leave a request of that load without an answer.
  let gone = true;
  await page.route(/assets\/workers-.*\.js/, (route) => {
    if (!gone) return route.continue();
    gone = false;
    return route.fulfill({ status: 404, body: '' });
  });
  await page.getByRole('link', { name: 'Workers', exact: true }).click();
  await page.getByRole('heading', { name: 'Workers' }).waitFor();
});
