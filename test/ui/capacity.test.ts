/** Limits, rates and reservations on the page, in a real browser. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from '../kit/access.ts';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard({ args: ['--resources', 'gpu=2', '--workers', '8'] });
});
after(() => dashboard[Symbol.asyncDispose]());

test('queues: a key shows what runs and waits; its limit is set for all jobs, and cleared', async () => {
  const { client } = dashboard;
  const limits = [{ key: 'customer:42', max: 1 }];
  const jobs = await client.submitAll(
    Array.from({ length: 3 }, () => ({ command: 'sleep 600', limits, rates: [{ key: 'api', limit: 9, per: '1h' }] })),
  );
  await using screen = await dashboard.open('/ui/queues', { allow: /status of 400/ });
  const { page } = screen;
  const row = page.getByRole('row', { name: /customer:42/ });
  await row.getByText('each job has its own limit').waitFor();
  await row.getByRole('cell', { name: '2', exact: true }).waitFor();
  await page.getByRole('row', { name: /^api/ }).waitFor();

  await row.getByRole('button', { name: 'Set… customer:42' }).click();
  const dialog = page.getByRole('dialog');
  const set = dialog.getByRole('button', { name: 'Set' });
  assert.ok(await set.isDisabled(), 'a number is needed');
  await dialog.getByRole('textbox').fill('2');
  await dialog.getByText('limits set customer:42 --max 2').waitFor();
  await set.click();
  await row.getByText('of 2, set for all jobs').waitFor();
  await row.getByRole('meter', { name: 'Running with key customer:42' }).waitFor();
  await row.getByRole('cell', { name: '1', exact: true }).waitFor();
  await row.getByRole('button', { name: 'Clear customer:42' }).click();
  await row.getByText('each job has its own limit').waitFor();

  await page.getByRole('button', { name: 'Set limit…' }).click();
  await dialog.getByLabel(/^Key/).fill('new key');
  await dialog.getByLabel(/^Maximum running jobs with this key/).fill('0');
  await set.click();
  await page.getByText(/max: .*1/).waitFor();
  await dialog.getByLabel(/^Maximum running jobs with this key/).fill('4');
  await set.click();
  await page
    .getByRole('row', { name: /new key/ })
    .getByText('of 4')
    .waitFor();

  const last = jobs.at(-1)?.id ?? '';
  await page.goto(`${dashboard.url}/ui/jobs/${last}?tab=details`);
  await page.getByText(/Waiting for a place under the limit of customer:42: 2 of 1 run, 1st in line/).waitFor();
  for (const { id } of jobs) await client.cancelJob(id);
});

test('queues and workers: what is held for a job is shown, with its expected start', async () => {
  const { client } = dashboard;
  const small = await client.submit({ command: 'sleep 600', resources: { gpu: 1 }, timeout: '20m' });
  await using screen = await dashboard.open('/ui/queues');
  const { page } = screen;
  const big = await client.submit({ command: 'true', resources: { gpu: 2 } });
  const line = page.getByRole('listitem').filter({ hasText: `holds 2 gpu for job ${big.id}; expected start: in` });
  await line.waitFor();
  await page.goto(`${dashboard.url}/ui/workers`);
  await page.getByText(`Holds 2 gpu for job ${big.id}`).waitFor();
  await page.getByRole('meter', { name: /^gpu of/ }).waitFor();
  await client.cancelJob(big.id);
  await client.cancelJob(small.id);
});

test('queues: the screen of a queue has its counts, limits, workers and jobs, and resumes it', async () => {
  const name = 'eu/mail 50%';
  await dashboard.client.editQueue(name, { max_running: 3, paused: true });
  await dashboard.client.submit({ name: 'welcome-mail', queue: name, command: 'true' });
  await using screen = await dashboard.open('/ui/queues');
  const { page } = screen;
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, exact: true }).waitFor();
  await page.locator('.facts').getByText('of 3').waitFor();
  const jobs = page.locator('.card', { hasText: 'Newest jobs' });
  await jobs.locator('[data-state="pending"]').waitFor();
  await page.locator('.card', { hasText: 'Workers' }).locator('[data-state="online"]').first().waitFor();
  await assertAccessible(page, 'a queue');
  await page.getByRole('button', { name: `Resume ${name}` }).click();
  await jobs.locator('[data-state="done"]').waitFor();
  await jobs.getByRole('link', { name: 'All', exact: true }).click();
  await page.locator('.job-row', { hasText: 'welcome-mail' }).waitFor();
});

test('queues: a queue that is long late is marked, and one that was never used says so', async () => {
  await dashboard.client.submit({ queue: 'late', command: 'true', requires: ['nobody-has-it'] });
  await using screen = await dashboard.open('/ui/queues/show?name=nosuch');
  const { page } = screen;
  await page.getByRole('heading', { name: 'Queue nosuch has no jobs' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Pause/ }).count(), 0, 'a typing error makes no queue');
  await page.clock.install();
  await page.goto(`${dashboard.url}/ui/queues`);
  const oldest = page.getByRole('row', { name: /^late/ }).locator('[data-label="Oldest"]');
  await oldest.getByText(/^\d+s$/).waitFor();
  assert.equal(await oldest.locator('.tone-amber').count(), 0);
  await page.clock.fastForward('06:00');
  await oldest.locator('.tone-amber').waitFor();
});
