/** Sealed inputs in a real browser: shown as sealed, and kept by the forms. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';
import { api } from '../kit/workron-process.ts';

const TEXT = 'canary-of-a-sealed-input';

let dashboard: Dashboard;
before(async () => {
  const key = randomBytes(32).toString('base64');
  dashboard = await openDashboard({ args: ['--secrets-key-command', `echo ${key}`] });
});
after(() => dashboard[Symbol.asyncDispose]());

test('a sealed input is shown as sealed, and a form that starts from the job asks for another', async () => {
  const { id } = await dashboard.client.submit({ command: 'cat', input: TEXT, seal_input: true });
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await page.getByRole('tab', { name: 'Details' }).click();
  await page.getByRole('heading', { name: 'Standard input' }).waitFor();
  await page.getByText('Sealed: only the worker that runs the job gets it.').waitFor();
  await page.getByRole('button', { name: 'Copy as…' }).click();
  await page.getByText(`workron submit --seal-input --url ${dashboard.url} -- cat`).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Run with changes…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Its input is sealed and cannot be read back.').waitFor();
  await dialog.getByText('Handler', { exact: true }).click();
  await dialog.getByLabel('Handler', { exact: true }).last().fill('charge');
  await dialog.getByLabel('Input (JSON)').fill('{"card": 1}');
  await dialog.getByRole('button', { name: 'Submit as a new job' }).click();
  await page.waitForURL((url) => url.pathname !== `/ui/jobs/${id}`);
  const made = await dashboard.client.readJob(new URL(page.url()).pathname.split('/').at(-1) ?? '');
  assert.deepEqual([made.handler, made.input, made.seal_input], ['charge', null, true]);
  assert.ok(!(await page.content()).includes(TEXT));
});

test('a schedule with a sealed input keeps it when another field is edited', async () => {
  const { client, url } = dashboard;
  await client.createSchedule({
    name: 'charges',
    every: '1h',
    job: { handler: 'nightly', input: { card: TEXT }, seal_input: true },
  });
  await using screen = await dashboard.open('/ui/schedules/charges');
  const { page } = screen;
  await page.getByRole('button', { name: 'Edit…' }).click();
  const form = page.getByRole('dialog', { name: 'Edit charges' });
  await form.getByText('Leave empty to keep the sealed input.').waitFor();
  await form.getByLabel('Handler', { exact: true }).last().fill('charge-cards');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.command-box').getByText('charge-cards').waitFor();
  assert.equal((await client.readSchedule('charges')).job?.seal_input, true);
  await api(url, '/schedules/charges/run', {});
  const handlers = ['charge-cards'];
  const { worker_id } = await api<{ worker_id: string }>(url, '/workers/register', { name: 'w', handlers });
  const { items } = await api<{ items: { input: unknown }[] }>(url, '/jobs/claim', { worker_id, handlers });
  assert.deepEqual(items[0]?.input, { card: TEXT });
});
