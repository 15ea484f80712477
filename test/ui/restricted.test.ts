/** What a submitter who is restricted to queues is offered. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Dashboard, openDashboard, type Screen } from '../kit/dashboard.ts';

const TOKEN = 'a-token-for-this-test';
let dashboard: Dashboard;
/** The first step of a run of each workflow, by its name. */
const steps: Record<string, string> = {};
/** Jobs in an allowed queue, by how they notify. */
const notifying: Record<string, string> = {};
/** Workflows in an allowed queue, by how they notify. */
const workflows: Record<string, string> = {};
let mail: string;

before(async () => {
  dashboard = await openDashboard({ token: TOKEN });
  const { client, url } = dashboard;
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  for (const [name, queue] of [
    ['newsletter', 'mail'],
    ['release', 'builds'],
  ] as const) {
    const source = `name: ${name}\nsteps:\n  check: {command: 'true', queue: mail}\n  go: {command: 'true', queue: ${queue}}\n`;
    const body = JSON.stringify({ source });
    assert.ok((await fetch(`${url}/definitions/${name}`, { method: 'PUT', headers, body })).ok);
    const workflow = {
      name,
      steps: [
        { key: 'check', command: 'true', queue: 'mail' },
        { key: 'go', command: 'true', queue },
      ],
    };
    await client.createSchedule({ name: `${name}-weekly`, cron: '0 7 * * MON', workflow });
    const { id } = await client.submitWorkflow(workflow);
    steps[name] = (await client.readWorkflow(id)).steps[0]?.job_id ?? '';
  }
  for (const [how, target] of [
    ['webhook', { webhook: 'https://example.org/hook' }],
    ['command', { command: 'true' }],
  ] as const) {
    const notify = [{ on: ['failed' as const], ...target }];
    notifying[how] = (await client.submit({ command: 'true', queue: 'mail', notify })).id;
    const { id } = await client.submitWorkflow({
      name: how,
      notify,
      steps: [{ key: 'a', command: 'true', queue: 'mail' }],
    });
    notifying[`workflow ${how}`] = (await client.readWorkflow(id)).steps[0]?.job_id ?? '';
    workflows[how] = id;
  }
  mail = (await client.createToken({ name: 'shop', role: 'submitter', queues: ['mail', 'images'] })).token;
});
after(() => dashboard[Symbol.asyncDispose]());

async function openAsShop(path: string): Promise<Screen> {
  const screen = await dashboard.open(path, { allow: /401/ });
  await screen.page.getByLabel('Token').fill(mail);
  await screen.page.getByRole('button', { name: 'Log in' }).click();
  await screen.page.getByRole('button', { name: 'Log out' }).waitFor();
  return screen;
}

const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);

test('restricted: stored workflows and schedules are offered to run if all their queues are allowed', async () => {
  await using screen = await openAsShop('/ui/workflows');
  const { page } = screen;
  await page.getByRole('button', { name: 'Run… newsletter' }).waitFor();
  await page.getByRole('link', { name: 'release', exact: true }).first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run… release' }).count(), 0);
  await goTo(page, '/ui/definitions/release');
  await page.getByRole('heading', { name: 'release' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Run/ }).count(), 0);
  await goTo(page, '/ui/definitions/newsletter');
  await page.getByRole('button', { name: /^Run/ }).waitFor();

  await goTo(page, '/ui/schedules');
  await page.getByRole('button', { name: 'Run newsletter-weekly' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run release-weekly' }).count(), 0);
  await goTo(page, '/ui/schedules/release-weekly');
  await page.getByRole('heading', { name: 'release-weekly' }).waitFor();
  assert.equal(await page.getByRole('button', { name: /Run now|Edit|Backfill/ }).count(), 0);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Search or go to' }).fill('run weekly');
  await page.getByRole('option', { name: 'Run schedule newsletter-weekly' }).waitFor();
  assert.equal(await page.getByRole('option', { name: 'Run schedule release-weekly' }).count(), 0);
});

test('restricted: a step is offered to run again if all queues of its workflow are allowed', async () => {
  await using screen = await openAsShop(`/ui/jobs/${steps['newsletter']}`);
  const { page } = screen;
  await page.getByRole('button', { name: 'Run again' }).waitFor();
  const read = page.waitForResponse((response) => /\/workflows\/\d+$/.test(response.url()));
  await goTo(page, `/ui/jobs/${steps['release']}`);
  await read;
  await page.getByText(`job ${steps['release']}`).waitFor();
  await page.getByRole('button', { name: 'Run with changes…' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run again' }).count(), 0);
});

test('restricted: what notifies by a command is not offered to run again, as that needs its queue', async () => {
  await using screen = await openAsShop(`/ui/jobs/${notifying['webhook']}`);
  const { page } = screen;
  for (const what of ['', 'workflow ']) {
    await goTo(page, `/ui/jobs/${notifying[`${what}webhook`]}`);
    await page.getByText(`job ${notifying[`${what}webhook`]}`).waitFor();
    await page.getByRole('button', { name: 'Run again' }).waitFor();
    const read = what === '' ? null : page.waitForResponse((response) => /\/workflows\/\d+$/.test(response.url()));
    await goTo(page, `/ui/jobs/${notifying[`${what}command`]}`);
    await read;
    await page.getByText(`job ${notifying[`${what}command`]}`).waitFor();
    await page.getByRole('button', { name: 'Run with changes…' }).waitFor();
    await page.getByRole('button', { name: 'Run again' }).waitFor({ state: 'detached' });
  }
  const rerun = page.getByRole('button', { name: 'Rerun from here a' });
  await goTo(page, `/ui/workflows/${workflows['webhook']}?view=list`);
  await rerun.waitFor();
  await goTo(page, `/ui/workflows/${workflows['command']}?view=list`);
  await page.getByText(`workflow ${workflows['command']}`).waitFor();
  await page.getByRole('cell', { name: 'done' }).waitFor();
  assert.equal(await rerun.count(), 0);
});

test('restricted: forms offer the allowed queues, and what they send is accepted', async () => {
  await using screen = await openAsShop('/ui/jobs');
  const { page } = screen;
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  const queue = dialog.locator('[name=queue]');
  assert.deepEqual(await queue.locator('option').allInnerTexts(), ['mail', 'images']);
  assert.equal(await queue.inputValue(), 'mail');
  await dialog.getByLabel('Command', { exact: true }).last().fill('echo hello');
  await dialog.getByRole('button', { name: 'Submit' }).click();
  await page.waitForURL(/\/jobs\/\d+$/);
  await goTo(page, '/ui/schedules');
  await page.getByRole('button', { name: 'New schedule' }).click();
  assert.equal(await queue.inputValue(), 'mail');
});
