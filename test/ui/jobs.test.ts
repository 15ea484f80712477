/** Jobs in a real browser, on SQLite. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin');

let dashboard: Dashboard;
let curlLine: string;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard[Symbol.asyncDispose]());

/** The state in the head of a job's or workflow's screen. */
function headState(page: Page, state: string) {
  return page.locator(`.page-head [data-state="${state}"]`);
}

test('an empty installation shows a form that works: submit, live log, done', async () => {
  await using screen = await dashboard.open('/');
  const { page } = screen;
  await page.getByRole('heading', { name: 'Welcome to Workron' }).waitFor();
  curlLine = await page.getByLabel('With curl').innerText();
  await page
    .locator('textarea[name=command]')
    .fill('echo first; until [ -e go ]; do sleep 0.05; done; echo "second line"');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.log-text', { hasText: 'first' }).waitFor();
  await headState(page, 'running').waitFor();
  await dashboard.client.submit({ command: 'touch go' });
  await page.locator('.log-text', { hasText: 'second line' }).waitFor();
  await headState(page, 'done').waitFor();
});

test('the curl line on the page works, and its job appears without a reload', async () => {
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  await page.mouse.move(0, 0);
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}` };
  const { stdout } = await promisify(execFile)('sh', ['-c', `${curlLine} -s`], { env });
  const { id } = JSON.parse(stdout) as { id: string };
  await page.locator(`[data-job="${id}"] [data-state="done"]`).waitFor();
});

test('rows do not move under the pointer: new jobs are counted, and added on request', async () => {
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  const first = page.locator('.job-row[data-job]').first();
  const before = await first.getAttribute('data-job');
  await page.locator('.job-scroll').hover();
  const { id } = await dashboard.client.submit({ command: 'true' });
  const pill = page.getByRole('button', { name: /1 new job/ });
  await pill.waitFor();
  assert.equal(await first.getAttribute('data-job'), before);
  await pill.click();
  await page.locator(`[data-job="${id}"]`).waitFor();
});

test('filters are kept in the address, and views can be saved', async () => {
  await dashboard.client.submit({ name: 'needle', queue: 'hay', command: 'exit 3', max_attempts: 1, tags: ['eu'] });
  await using screen = await dashboard.open('/ui/jobs?queue=hay');
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  assert.equal(await page.locator('.job-row[data-job]').count(), 1);
  await page.getByRole('group', { name: 'States' }).getByText('failed').click();
  await page.waitForURL(/status=failed/);
  await page.getByRole('button', { name: 'Save view' }).click();
  await page.getByLabel('Name', { exact: true }).fill('hay that failed');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await page.waitForURL((url) => url.search === '');
  await page.getByRole('button', { name: 'hay that failed', exact: true }).click();
  await page.waitForURL(/queue=hay/);
  await page.getByRole('combobox', { name: 'Filter jobs' }).fill('no such text');
  await page.getByText('No job matches').waitFor();
  await page.goBack();
});

test('bulk: all matching jobs are counted, confirmed and retried, with a progress display', async () => {
  const { client } = dashboard;
  const jobs = await client.submitAll(
    Array.from({ length: 5 }, () => ({ queue: 'bulk', command: '[ -e mended ]', max_attempts: 1 })),
  );
  for (const { id } of jobs) await client.waitJob(id, { timeout: '60s' });
  const mend = await client.submit({ command: 'touch mended' });
  await client.waitJob(mend.id, { timeout: '60s' });
  await using screen = await dashboard.open('/ui/jobs?status=failed&queue=bulk');
  const { page } = screen;
  await page.locator('.job-row[data-job]').nth(4).waitFor();
  await page.getByRole('button', { name: 'Retry…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Retry 5 jobs?' });
  await dialog.getByText(`workron retry --status failed --queue bulk --url ${dashboard.url}`).waitFor();
  await dialog.getByRole('button', { name: /^Retry \d+ jobs?$/ }).click();
  await page.getByText('5 retried').waitFor();
  for (const { id } of jobs) assert.equal((await client.waitJob(id, { timeout: '60s' })).status, 'done');
  await page.locator('.job-row [data-state="done"]').first().waitFor();
});

test('bulk: ended jobs are counted, confirmed and deleted; others stay', async () => {
  const { client } = dashboard;
  const waiting = await client.submit({ queue: 'bulk', command: 'true', delay: '1h' });
  await using screen = await dashboard.open('/ui/jobs?queue=bulk');
  const { page } = screen;
  await page.locator('.job-row[data-job]').nth(5).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 5 jobs?' });
  await dialog.getByText(`workron jobs rm --queue bulk --url ${dashboard.url}`).waitFor();
  await dialog.getByRole('button', { name: /^Delete \d+ jobs?$/ }).click();
  await page.getByText('5 deleted').waitFor();
  await page.locator('.job-row[data-job]').nth(1).waitFor({ state: 'detached' });
  await page.locator(`[data-job="${waiting.id}"]`).waitFor();
  assert.deepEqual(
    (await client.listJobs({ queue: 'bulk' })).items.map(({ id }) => id),
    [waiting.id],
  );
});

test('bulk: without a filter every job is meant', async () => {
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  await page.getByRole('button', { name: 'Cancel…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Cancel \d+ jobs\?$/ });
  await dialog.getByText(`workron cancel --all --url ${dashboard.url}`).waitFor();
  await dialog.getByRole('button', { name: /^Cancel \d+ jobs?$/ }).click();
  await page.getByText(/^Finished: 1 cancelled/).waitFor();
});

test('a job can be cancelled, explained, run again with another command, and copied as curl and CLI', async () => {
  const { id } = await dashboard.client.submit({ name: 'sleeper', command: 'sleep 60', max_attempts: 1 });
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await headState(page, 'running').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await headState(page, 'cancelled').waitFor();
  await page.getByText('It was cancelled.').waitFor();
  await page.getByRole('button', { name: 'Copy as…' }).click();
  await page.getByText(`workron submit --name sleeper --max-attempts 1 --url ${dashboard.url} -- 'sleep 60'`).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run with changes…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('textarea').fill('echo again');
  await dialog.getByRole('button', { name: 'Submit as a new job' }).click();
  await page.locator('.log-text', { hasText: 'again' }).waitFor();
  assert.notEqual(new URL(page.url()).pathname, `/ui/jobs/${id}`);
});

test('a job runs again with its environment, as a job that names the first', async () => {
  const submission = { command: 'echo "secret is $SECRET"', env: { SECRET: 'known' }, max_attempts: 1 };
  const { id } = await dashboard.client.submit(submission);
  await dashboard.client.waitJob(id, { timeout: '60s' });
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await headState(page, 'done').waitFor();
  await page.getByRole('button', { name: 'Run again', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== `/ui/jobs/${id}`);
  await page.locator('.log-text', { hasText: 'secret is known' }).waitFor();
  const again = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  assert.equal((await dashboard.client.readJob(again)).rerun_of, id);
});

test('a refused action shows the message of the server', async () => {
  await using screen = await dashboard.open('/ui/', { allow: /400/ });
  const { page } = screen;
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.locator('textarea').fill('true');
  await dialog.getByLabel('Timeout').fill('soon');
  await dialog.getByRole('button', { name: 'Submit' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/expected a duration such as/)
    .waitFor();
});

test('a log has colours, collapsed carriage returns, search, links to lines, attempts and a download', async () => {
  const command = String.raw`printf '\033[31mred\033[0m plain\n'; printf 'working 1%%\rworking 99%%\rready\n'; i=0; while [ $i -lt 300 ]; do echo "line number $i"; i=$((i+1)); done; exit 1`;
  const { id } = await dashboard.client.submit({ command, max_attempts: 2, backoff: { type: 'none' } });
  await dashboard.client.waitJob(id, { timeout: '60s' });
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await page.locator('.log-text', { hasText: 'line number 299' }).waitFor();
  await page.getByRole('button', { name: 'Follow' }).click();
  await page.getByRole('searchbox', { name: 'Search in the log' }).fill('number 123');
  await page.getByText('1 of 1').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.log-line-marked mark', { hasText: 'number 123' }).waitFor();
  assert.equal(new URL(page.url()).hash, '#L126', 'a match has a link');
  await page.goto(`${dashboard.url}/ui/jobs/${id}#L1`);
  await page.reload();
  const red = page.locator('.log-line-marked .ansi-red');
  await red.waitFor();
  assert.equal(await red.innerText(), 'red');
  assert.equal(await page.locator('.log-line').nth(1).locator('.log-text').innerText(), 'ready');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), `job-${id}.log`);
  await page.getByRole('tab', { name: 'Attempts (2)' }).click();
  await page.locator('.attempts li').nth(1).getByRole('button', { name: 'Log' }).click();
  await page.waitForURL(/attempt=1/);
  await page.getByText('Showing attempt 1 only.').waitFor();
});

test('the keyboard alone reaches palette, screens, rows and the key sheet, but not while the user types', async () => {
  await using screen = await dashboard.open('/ui/');
  const { page } = screen;
  await page.getByRole('heading', { name: 'Today' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.locator('.job-row[data-job]').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByText('1 selected:').waitFor();
  const chosen = await page.locator('.job-row-current').getAttribute('data-job');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(`/ui/jobs/${chosen}$`));
  await page.keyboard.press('Control+k');
  await page.keyboard.type('queues');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.locator('.job-row[data-job]').first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('g q n ?');
  assert.equal(new URL(page.url()).pathname, '/ui/jobs', 'letters are typed into the field');
  assert.equal(await page.locator('dialog[open]').count(), 0);
});

test('queues: a pause is shown on waiting jobs and can be ended, and a limit can be set', async () => {
  await dashboard.client.editQueue('slow', { max_running: 3 });
  await using screen = await dashboard.open('/ui/queues');
  const { page } = screen;
  await page.getByRole('button', { name: 'Pause slow' }).click();
  await page.getByText('Queue slow is paused').waitFor();
  const { id } = await dashboard.client.submit({ queue: 'slow', command: 'true' });
  await page.locator('tr', { hasText: 'slow' }).getByRole('link', { name: '1', exact: true }).waitFor();
  await page.goto(`${dashboard.url}/ui/jobs/${id}`);
  await page.getByText('Waiting for queue slow to be resumed').waitFor();
  await page.goto(`${dashboard.url}/ui/queues`);
  await page.getByRole('button', { name: 'Resume slow' }).click();
  await page.getByRole('button', { name: 'Limit… slow' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(/max_running/).fill('-7');
  assert.ok(await dialog.getByRole('button', { name: 'Set' }).isDisabled());
  await dialog.getByLabel(/max_running/).fill('7');
  await dialog.getByLabel(/^Rate/).fill('100 per minute');
  assert.ok(await dialog.getByRole('button', { name: 'Set' }).isDisabled());
  await dialog.getByLabel(/^Rate/).fill('100/1m+20');
  await dialog.getByRole('button', { name: 'Set' }).click();
  await page.getByText('of 7').waitFor();
  await page.getByText('starts 100/1m+20', { exact: true }).waitFor();
  const rate = (await Array.fromAsync(dashboard.client.listQueues())).find(({ name }) => name === 'slow')?.rate;
  assert.deepEqual(rate, { limit: 100, per: 60_000, burst: 20 });
  assert.equal((await dashboard.client.waitJob(id, { timeout: '60s' })).status, 'done');
});

test('workers: a drained worker is brought back with one press', async () => {
  await using screen = await dashboard.open('/ui/workers');
  const { page } = screen;
  await page.getByRole('button', { name: 'Drain…' }).click();
  await page.getByRole('button', { name: 'Drain it' }).click();
  await page.getByRole('button', { name: 'Undrain' }).click();
  await page.getByText('takes jobs again').waitFor();
  await page.getByRole('button', { name: 'Drain…' }).waitFor();
  const { id } = await dashboard.client.submit({ command: 'true' });
  assert.equal((await dashboard.client.waitJob(id, { timeout: '60s' })).status, 'done');
});

test('phone width: the list, a job and its log are usable', async () => {
  await dashboard.client.submit({ name: 'small', command: 'echo on a phone' });
  await using screen = await dashboard.open('/ui/jobs?name=small', {
    viewport: { width: 360, height: 640 },
    hasTouch: true,
  });
  const { page } = screen;
  await page.locator('.job-row[data-job] .job-link').first().tap();
  await page.locator('.log-text').first().waitFor();
  await page.getByRole('link', { name: 'Workers' }).tap();
  await page.locator('article').first().waitFor();
});

test('the page notices a restart of the scheduler and recovers without stale data', async () => {
  const { id } = await dashboard.client.submit({ name: 'over-restart', command: 'true', delay: '1h' });
  await using screen = await dashboard.open(`/ui/jobs/${id}`, { allow: /Failed to load resource|net::ERR/ });
  const { page } = screen;
  await headState(page, 'scheduled').waitFor();
  await page.locator('.live-live').waitFor();
  const seen = page.locator('.live-reconnecting').waitFor();
  await dashboard.restart();
  await seen;
  await page.locator('.live-live').waitFor();
  await dashboard.client.cancelJob(id);
  await headState(page, 'cancelled').waitFor();
});
