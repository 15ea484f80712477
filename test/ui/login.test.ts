/** Logging in by a link, staying logged in across tabs, downloads, logging out. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { fetchTransport } from '../../src/api/fetch-transport.ts';
import { HttpClient } from '../../src/api/http-client.ts';
import { routes } from '../../src/api/routes.ts';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';
import { eventually } from '../kit/eventually.ts';

const TOKEN = 'a-token-for-this-test';
let dashboard: Dashboard;

before(async () => {
  dashboard = await openDashboard({ token: TOKEN });
});
after(() => dashboard[Symbol.asyncDispose]());

async function link(): Promise<string> {
  const http = new HttpClient({ url: dashboard.url, token: TOKEN, transport: fetchTransport });
  return (await http.json(routes.createLink, {})).path;
}

const isIn = (page: Page) => page.getByRole('button', { name: 'Log out' }).waitFor();
const isOut = (page: Page) => page.getByLabel('Token').waitFor();

test('login: a link opens the page once, and a new tab of the browser does not ask', async () => {
  const { id } = await dashboard.client.submit({ command: 'echo hello; echo there' });
  await dashboard.client.waitJob(id);
  const path = await link();
  await using screen = await dashboard.open(path);
  const { page } = screen;
  await isIn(page);
  assert.equal(await page.evaluate<string>('location.hash'), '', 'the code is out of the address');

  const tab = await page.context().newPage();
  await tab.goto(`${dashboard.url}/ui/jobs/${id}`);
  await tab.getByText('hello').first().waitFor();
  const [download] = await Promise.all([tab.waitForEvent('download'), tab.getByText('Download').click()]);
  assert.equal(download.suggestedFilename(), `job-${id}.log`);
  const stream = await download.createReadStream();
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  assert.equal(text, 'hello\nthere\n');

  // The cookie alone is what another server of this machine would get.
  const cookies = await page.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  assert.ok(cookie.includes('workron_'));
  assert.equal((await fetch(`${dashboard.url}/jobs`, { headers: { cookie } })).status, 401);
  const key = await page.evaluate<string>(`localStorage.getItem('workron.session')`);
  const both = { cookie, 'x-workron-session': key };
  assert.equal((await fetch(`${dashboard.url}/jobs`, { headers: both })).status, 200);

  await page.getByRole('button', { name: 'Log out' }).click();
  await isOut(page);
  assert.equal((await fetch(`${dashboard.url}/jobs`, { headers: both })).status, 401, 'it ended on the server');
  await tab.close();
});

test('login: a link that was used asks for the token', async () => {
  const path = await link();
  await using first = await dashboard.open(path);
  await isIn(first.page);
  await using second = await dashboard.open(path, { allow: /401/ });
  await isOut(second.page);
  await eventually(async () => (await second.page.evaluate<string>('location.hash')) === '');
});
