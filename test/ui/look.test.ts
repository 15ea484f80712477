/** What the screens look like: on a phone, beside a scrollbar, in commands, after a restart. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';

const PHONE = { viewport: { width: 390, height: 844 } };

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard[Symbol.asyncDispose]());

/** The left and right edge of the first element that matches. */
async function edges(page: Page, selector: string): Promise<{ left: number; right: number }> {
  const box = await page.locator(selector).first().boundingBox();
  assert.ok(box !== null, `${selector} is visible`);
  return { left: box.x, right: box.x + box.width };
}

function styleOf(page: Page, selector: string, property: string): Promise<string> {
  return page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${property}`);
}

test('attempts are segments beside the list too: they ran, waited, and name their worker', async () => {
  const { client } = dashboard;
  const command = 'echo try $WORKRON_ATTEMPT; [ $WORKRON_ATTEMPT != 1 ]';
  const job = await client.submit({ name: 'charge', command, backoff: { type: 'fixed', base: '200ms' } });
  await client.waitJob(job.id, { timeout: '60s' });
  const [worker] = await Array.fromAsync(client.listWorkers());
  await using screen = await dashboard.open(`/ui/jobs?open=${job.id}`);
  const { page } = screen;
  const panel = page.getByRole('complementary', { name: `Job ${job.id}` });
  await panel
    .locator('.attempt-backoff')
    .getByText(/^waited \d/)
    .waitFor();
  await panel.locator('.log-text', { hasText: 'try 2' }).waitFor();
  await panel.getByRole('button', { name: /^#1 failed/ }).click();
  await panel.locator('.log-text', { hasText: 'try 1' }).waitFor();
  // A font with ligatures would draw != as one character.
  const ligatures = await styleOf(page, '.command-box pre', 'fontVariantLigatures');
  assert.equal(ligatures, 'no-contextual');
  await page.goto(`${dashboard.url}/ui/jobs/${job.id}?tab=attempts`);
  await page
    .locator('.attempts')
    .getByRole('link', { name: worker?.name ?? '' })
    .first()
    .waitFor();
});

test('the lines of the list of jobs end at its border', async () => {
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  const row = await edges(page, '.job-space .job-row[data-job]');
  const table = await edges(page, '.job-table');
  assert.ok(table.right - row.right <= 1, `the row ends at ${row.right}, the table at ${table.right}`);
  assert.equal((await edges(page, '.job-head .job-row')).right, row.right);
});

test('on a phone, the entry of the screen is in view, and the mark of a failing schedule beside its name', async () => {
  const { client } = dashboard;
  await client.createSchedule({ name: 'broken', every: '1h', job: { command: 'exit 1', max_attempts: 1 } });
  const { items } = await client.runSchedule('broken');
  await client.waitJob(items[0]?.job_id ?? '', { timeout: '60s' });
  await using screen = await dashboard.open('/ui/cluster', PHONE);
  const { page } = screen;
  await page.getByRole('heading', { name: 'Cluster' }).waitFor();
  await page.locator('.side-nav [aria-current]', { hasText: 'Cluster' }).waitFor();
  await page.waitForFunction(`document.querySelector('.side-nav').scrollLeft > 0`);
  assert.ok((await edges(page, '.side-nav [aria-current]')).right <= PHONE.viewport.width);
  await page.goto(`${dashboard.url}/ui/schedules`);
  await page.locator('.row-bad').waitFor();
  const mark = await styleOf(page, '.row-bad > th', 'boxShadow');
  assert.equal(mark, 'none', 'the mark is at the edge of the row, not under the name');
  const [row, name] = [await edges(page, '.row-bad'), await edges(page, '.row-bad .schedule-name')];
  assert.ok(name.left - row.left >= 6);
});

test('on a phone, every kind of schedule can be chosen', async () => {
  await using screen = await dashboard.open('/ui/schedules', PHONE);
  const { page } = screen;
  await page
    .getByRole('button', { name: /New schedule|Create a schedule/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog', { name: 'New schedule' });
  const [choice, box] = [await dialog.getByText('Handler', { exact: true }).boundingBox(), await dialog.boundingBox()];
  assert.ok(choice !== null && box !== null && choice.x + choice.width <= box.x + box.width);
});

test('a job that waits for its next attempt says so: when in local time, no duration, and what the attempt before it met', async () => {
  const { client } = dashboard;
  const command = '[ $WORKRON_ATTEMPT != 1 ]';
  const job = await client.submit({ name: 'quiet', command, backoff: { type: 'fixed', base: '2h' } });
  await using screen = await dashboard.open(`/ui/jobs/${job.id}`);
  const { page } = screen;
  await page.locator('.page-head [data-state="scheduled"]').waitFor();
  await page.getByText(/^Waiting for its next attempt at [A-Z][a-z]{2}\D/).waitFor();
  await page.getByText('Earlier attempt: exit 1').waitFor();
  await page.locator('.log-empty', { hasText: 'No output yet' }).waitFor();
  assert.equal(await page.locator('.facts dd', { hasText: /^0ms$/ }).count(), 0, 'it takes no time while it waits');
  await page.goto(`${dashboard.url}/ui/jobs?open=${job.id}`);
  assert.equal(await page.locator(`[data-job="${job.id}"] .col-5`).innerText(), '–');
});

test('a job leads to its tick, and the history does not lead to a run that was deleted', async () => {
  const { client } = dashboard;
  await client.createSchedule({ name: 'ledger', every: '1h', overlap: 'allow', job: { command: 'true' } });
  const runs = [...(await client.runSchedule('ledger')).items, ...(await client.runSchedule('ledger')).items];
  const [gone, kept] = runs.map(({ job_id }) => job_id ?? '');
  for (const id of [gone, kept]) await client.waitJob(id ?? '', { timeout: '60s' });
  await client.deleteJob(gone ?? '');
  await using screen = await dashboard.open(`/ui/jobs/${kept}`, { timezoneId: 'Asia/Tokyo' });
  const { page } = screen;
  await page.getByRole('link', { name: 'ledger' }).click();
  const history = page.getByRole('list', { name: 'Ticks' });
  await history
    .locator('[aria-current]')
    .getByRole('link', { name: `job ${kept}` })
    .waitFor();
  await history.getByText(`job ${gone}, deleted`).waitFor();
  assert.equal(await page.locator(`a[href$="/jobs/${gone}"]`).count(), 0);
  await client.pauseSchedule('ledger');
  await page.getByRole('heading', { name: 'Next runs, once it is resumed' }).waitFor();
  await page.getByText(/^In your time zone, /).waitFor();
});

test('on a phone, the timeline shows the whole names of its rows', async () => {
  const name = 'reconcile-the-ledgers-of-all-shops';
  await dashboard.client.createSchedule({ name, every: '1h', job: { command: 'true' } });
  await using screen = await dashboard.open('/ui/', PHONE);
  const { page } = screen;
  const link = page.locator('.day-row-name').getByRole('link', { name });
  await link.waitFor();
  assert.ok(await link.evaluate((element) => element.scrollWidth <= element.clientWidth), 'it is not cut off');
});

test('in the dark, what is to be ticked has the colour of the fields', async () => {
  await using screen = await dashboard.open('/ui/schedules', { colorScheme: 'dark' });
  const { page } = screen;
  await page.getByRole('button', { name: 'New schedule' }).click();
  const [field, choice] = ['[name=name]', '[type=radio]:not(:checked)'];
  await page.locator(`dialog ${choice}`).first().waitFor();
  const colour = await styleOf(page, `dialog ${choice}`, 'backgroundColor');
  assert.equal(colour, await styleOf(page, `dialog ${field}`, 'backgroundColor'));
  assert.equal(await styleOf(page, `dialog ${choice}`, 'appearance'), 'none');
  await page.keyboard.press('Escape');
  await page.goto(`${dashboard.url}/ui/jobs`);
  await page.getByRole('checkbox').nth(1).check();
  assert.notEqual(await styleOf(page, '[type=checkbox]:checked', 'backgroundColor'), colour);
});

test('the progress of a job does not cut its name, and is below it on a phone', async () => {
  const command = 'echo "12% a long text that says how far it is" > "$WORKRON_PROGRESS"; sleep 600';
  const job = await dashboard.client.submit({ name: 'encode-the-film', command, timeout: '20m' });
  for (const options of [{ viewport: { width: 1440, height: 900 } }, PHONE]) {
    await using screen = await dashboard.open('/ui/jobs?name=encode-the-film', options);
    const { page } = screen;
    const name = page.getByRole('link', { name: 'encode-the-film' });
    const bar = page.getByRole('progressbar').first();
    await bar.waitFor();
    assert.ok(await name.evaluate((element) => element.scrollWidth <= element.clientWidth), 'it is not cut off');
    const [row, drawn] = [await page.locator('[data-job]').boundingBox(), await bar.boundingBox()];
    assert.ok(row !== null && drawn !== null && drawn.width >= 32);
    assert.ok(drawn.y > row.y && drawn.y + drawn.height < row.y + row.height, 'the bar is within its row');
  }
  await dashboard.client.cancelJob(job.id);
});

test('the timeline of a job has one line for each moment, and segments without room have no words', async () => {
  const job = await dashboard.client.submit({ command: 'exit 1', max_attempts: 2, backoff: { type: 'none' } });
  await dashboard.client.waitJob(job.id, { timeout: '60s' });
  await using screen = await dashboard.open(`/ui/jobs/${job.id}?tab=timeline`);
  const { page } = screen;
  const worker = page.locator('.timeline-what', { hasText: /^attempt 2 started on .*-/ });
  await worker.waitFor();
  const heights = await page.locator('.timeline li').evaluateAll((all) => all.map((each) => each.clientHeight));
  assert.equal(new Set(heights).size, 1, `heights: ${heights.join()}`);
  const words = page.locator('.attempt-words').last();
  await words.waitFor();
  await page.evaluate(`document.querySelector('.attempt-part:last-child').style.maxWidth = '30px'`);
  await words.waitFor({ state: 'hidden' });
});

test('in a log, n and N go through the matches, also after Escape; without a search n is a new job', async () => {
  const job = await dashboard.client.submit({ command: 'seq -f "hit %g" 5' });
  await dashboard.client.waitJob(job.id, { timeout: '60s' });
  await using screen = await dashboard.open(`/ui/jobs/${job.id}`);
  const { page } = screen;
  await page.locator('.log-text', { hasText: 'hit 5' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('hit');
  await page.getByText('1 of 5', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  for (const [key, place] of [
    ['n', '2 of 5'],
    ['n', '3 of 5'],
    ['N', '2 of 5'],
  ] as const) {
    await page.keyboard.press(key);
    await page.getByText(place, { exact: true }).waitFor();
  }
  assert.equal(await page.locator('dialog[open]').count(), 0);
  await page.getByLabel('Search in the log').fill('');
  await page.keyboard.press('Escape');
  await page.keyboard.press('n');
  await page.getByRole('dialog', { name: 'New job' }).waitFor();
});

test('the outline of a log is shown while it is read', async () => {
  const job = await dashboard.client.submit({ command: 'echo late' });
  await dashboard.client.waitJob(job.id, { timeout: '60s' });
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  const read = Promise.withResolvers<void>();
  await page.route('**/logs*', async (route) => {
    await read.promise;
    await route.continue();
  });
  await page.goto(`${dashboard.url}/ui/jobs/${job.id}`);
  await page.getByRole('log').locator('.skeleton').first().waitFor();
  read.resolve();
  await page.locator('.log-text', { hasText: 'late' }).waitFor();
  assert.equal(await page.getByRole('log').locator('.skeleton').count(), 0);
});

test('after a restart, the instance that is gone is offline', async () => {
  await dashboard.restart();
  await using screen = await dashboard.open('/ui/cluster');
  const { page } = screen;
  await page.locator('[data-state="online"]').waitFor();
  const { instances } = await dashboard.client.readCluster();
  assert.equal(instances.filter(({ state }) => state === 'online').length, 1);
  assert.ok(instances.length === 1 || (await page.locator('[data-state="offline"]').count()) === instances.length - 1);
});
