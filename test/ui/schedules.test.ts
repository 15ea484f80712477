/** Schedules in a real browser: created, watched, edited, backfilled and deleted on the page. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from '../kit/access.ts';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard[Symbol.asyncDispose]());

test('a schedule: the next ticks are shown while typing, and a new tick appears without a reload', async () => {
  await using screen = await dashboard.open('/ui/schedules', { allow: /400/ });
  const { page } = screen;
  await page.getByRole('button', { name: 'Create a schedule' }).click();
  const dialog = page.getByRole('dialog', { name: 'New schedule' });
  await dialog.getByLabel('Name').fill('heartbeat');
  await dialog.getByLabel('Time zone').fill('Europe/Berlin');
  await dialog.getByLabel('Cron expression').fill('30 2 * * 7,');
  await dialog.locator('#schedule-preview.problem-text').waitFor();
  await dialog.getByLabel('Cron expression').fill('30 2 * * SUN');
  await dialog.getByText('At 02:30, only on Sunday').waitFor();
  await dialog.getByRole('list', { name: 'Next runs' }).getByRole('listitem').nth(9).waitFor();
  // The last week of March has the night without 02:30.
  await dialog.getByLabel('Cron expression').fill('30 2 25-31 3 *');
  await dialog.locator('.preview .badge', { hasText: '⚠' }).first().waitFor();
  await assertAccessible(page, 'the form of a schedule');
  await dialog.getByText('Interval').click();
  await dialog.getByLabel('Every', { exact: true }).fill('1s');
  await dialog.getByRole('textbox', { name: 'Command' }).fill('echo alive');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page
    .getByRole('row', { name: /heartbeat/ })
    .locator('.cell[data-outcome="done"]')
    .first()
    .waitFor();
  await page.getByRole('link', { name: 'heartbeat', exact: true }).click();
  await page.locator('.ledger [data-verdict="ran"]').nth(1).getByRole('link', { name: /^job / }).click();
  await page.locator('.log-text', { hasText: 'alive' }).waitFor();
});

test('a schedule can be edited, run manually, paused with a note, resumed, backfilled and deleted', async () => {
  const { client } = dashboard;
  await client.createSchedule({
    name: 'report',
    cron: '0 9 * * *',
    catchup: { policy: 'latest', window: '2h' },
    job: { command: 'echo', tags: ['kept'] },
  });
  // The screen may ask for the schedule in the moment in which it is deleted.
  await using screen = await dashboard.open('/ui/schedules/report', { timezoneId: 'UTC', allow: /404/ });
  const { page } = screen;
  await page.getByRole('button', { name: 'Edit…' }).click();
  const form = page.getByRole('dialog', { name: 'Edit report' });
  await form.getByLabel('Cron expression').fill('30 6 * * *');
  await form.getByRole('textbox', { name: 'Command' }).fill('true');
  await form.getByLabel('If an earlier run has not ended').selectOption('run both');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.page-head').getByText('06:30').waitFor();
  const { cron, overlap, catchup, job } = await client.readSchedule('report');
  assert.deepEqual(
    { cron, overlap, window: catchup.window, command: job?.command, tags: job?.tags },
    { cron: '30 6 * * *', overlap: 'allow', window: 7_200_000, command: 'true', tags: ['kept'] },
    'fields that the form does not show are unchanged',
  );

  await page.getByRole('button', { name: 'Run now' }).click();
  await page.getByText('Started 1 run of report').waitFor();
  await page.locator('.ledger li', { hasText: 'manual' }).waitFor();

  await page.getByRole('button', { name: 'Pause…' }).click();
  await page.getByLabel('Reason (optional)').fill('the warehouse moves');
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByText('the warehouse moves').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('report resumed').waitFor();

  await page.getByRole('button', { name: 'Backfill…' }).click();
  const backfill = page.getByRole('dialog', { name: 'Backfill report' });
  await backfill.getByLabel('From').fill('2026-01-01T00:00');
  await backfill.getByLabel('To').fill('2026-01-04T00:00');
  await backfill.getByRole('button', { name: 'Show what would run' }).click();
  await backfill.getByText('3 runs missing in this range:').waitFor();
  await backfill.getByRole('button', { name: 'Start 3 runs' }).click();
  await page.getByText('Started 3 runs of report').waitFor();
  await page.locator('.ledger li', { hasText: 'backfill' }).nth(2).waitFor();

  await page.getByRole('link', { name: 'Today' }).click();
  await page.locator('.day-row').getByRole('link', { name: 'report', exact: true }).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  const sure = page.getByRole('dialog', { name: 'Delete report?' });
  await sure.getByRole('textbox').fill('report');
  await sure.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('report is deleted').waitFor();
  await page.getByRole('heading', { name: 'Schedules', exact: true }).waitFor();
  await page.getByRole('link', { name: 'report', exact: true }).waitFor({ state: 'detached' });
});

test('a schedule of a handler with several keys and a schedule of a workflow can be created and edited', async () => {
  const { client } = dashboard;
  await using screen = await dashboard.open('/ui/schedules');
  const { page } = screen;
  await page.getByRole('button', { name: 'New schedule' }).click();
  let form = page.getByRole('dialog', { name: 'New schedule' });
  await form.getByLabel('Name').fill('mails');
  await form.getByText('Handler', { exact: true }).click();
  await form.getByLabel('Handler', { exact: true }).last().fill('send-mail');
  await form.getByLabel('Input (JSON)').fill('{"list": ');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('The input is not JSON').waitFor();
  await form.getByLabel('Input (JSON)').fill('{"list": "weekly"}');
  await form.getByLabel('Run for each of these keys').fill('berlin, lyon\nlyon');
  await form.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name: 'mails', exact: true }).click();
  await page.locator('.facts').getByText('berlin, lyon').waitFor();
  const { job, for_each } = await client.readSchedule('mails');
  assert.deepEqual([job?.handler, job?.input, for_each], ['send-mail', { list: 'weekly' }, ['berlin', 'lyon']]);

  await page.getByRole('button', { name: 'Edit…' }).click();
  form = page.getByRole('dialog', { name: 'Edit mails' });
  await form.getByText('Workflow file', { exact: true }).click();
  const field = form.getByLabel('Workflow (YAML or JSON)');
  await field.fill('name: digest\nsteps:\n  a:\n    comand: x\n');
  await form.getByText('Line 4: ').waitFor();
  await form.getByLabel('Or a file from this machine').setInputFiles({
    name: 'digest.yaml',
    mimeType: 'text/yaml',
    buffer: Buffer.from('name: digest\nparams:\n  day: {}\nsteps:\n  a:\n    command: echo $WORKRON_PARAM_DAY\n'),
  });
  await form.getByText('digest, 1 step').waitFor();
  await assertAccessible(page, 'a schedule of a workflow');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('missing: the parameter has no default').waitFor();
  await form.getByLabel('day (needed)').fill('monday');
  await form.getByLabel('Run for each of these keys').fill('');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.command-box').getByText('workflow digest').waitFor();
  const made = await client.readSchedule('mails');
  assert.deepEqual([made.job, made.workflow?.params, made.for_each], [null, { day: 'monday' }, null]);

  await page.getByRole('button', { name: 'Edit…' }).click();
  form = page.getByRole('dialog', { name: 'Edit mails' });
  await form.getByText('Leave empty to keep digest (1 step).').waitFor();
  await form.getByLabel('If an earlier run has not ended').selectOption('run both');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.facts').getByText('allow').waitFor();
  assert.equal((await client.readSchedule('mails')).workflow?.name, 'digest');
  await page.getByRole('button', { name: 'Run now' }).click();
  await page
    .locator('.ledger')
    .getByRole('link', { name: /^workflow / })
    .click();
  await page.locator('.page-head [data-state="done"]').waitFor();
});

test('a schedule of a stored workflow follows the latest version, or keeps one, with parameters', async () => {
  const { client, url } = dashboard;
  const apply = async (source: string): Promise<void> => {
    const { status } = await fetch(`${url}/definitions/etl`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ source }),
    });
    assert.equal(status, 200);
  };
  const steps = 'steps: {load: {command: "true"}}';
  await apply(`name: etl\nparams: {day: {}}\n${steps}`);
  await apply(
    `name: etl\nparams: {day: {}, mode: {enum: [full, delta], default: delta}, rows: {type: number, default: 10}}\n${steps}`,
  );
  await using screen = await dashboard.open('/ui/schedules', { allow: /400/ });
  const { page } = screen;
  await page.getByRole('button', { name: 'New schedule' }).click();
  let form = page.getByRole('dialog', { name: 'New schedule' });
  await form.getByLabel('Name').fill('load');
  await form.getByText('Stored workflow', { exact: true }).click();
  await form.getByRole('list', { name: 'Next runs' }).getByRole('listitem').nth(9).waitFor();
  await form.getByRole('combobox', { name: 'Workflow' }).selectOption('etl');
  await form.getByLabel('Version').selectOption('latest (2 now)');
  await form.getByLabel('day string, required').fill('monday');
  await form.getByLabel('mode string').selectOption('full');
  await assertAccessible(page, 'a schedule of a stored workflow');
  await form.getByText(/schedule add load .*--workflow etl --param day=monday --param mode=full/).waitFor();
  await form.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name: 'load', exact: true }).click();
  const made = await client.readSchedule('load');
  assert.deepEqual(made.definition, {
    name: 'etl',
    version: 2,
    latest: true,
    params: { day: 'monday', mode: 'full' },
  });
  await page.locator('.command-box').getByText('workflow etl, latest version (2)').waitFor();

  await page.getByRole('button', { name: 'Edit…' }).click();
  form = page.getByRole('dialog', { name: 'Edit load' });
  assert.equal(await form.getByLabel('mode string').inputValue(), 'full');
  await form.getByLabel('Version').selectOption('1');
  await form.getByLabel('mode string').waitFor({ state: 'detached' });
  await form.getByLabel('day string, required').fill('');
  await form.getByRole('button', { name: 'Save' }).click();
  assert.equal(await form.isVisible(), true, 'a value that is needed is asked for');
  await form.getByLabel('day string, required').fill('friday');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.command-box').getByText('workflow etl, version 1').waitFor();
  const edited = await client.readSchedule('load');
  assert.deepEqual(edited.definition, { name: 'etl', version: 1, latest: false, params: { day: 'friday' } });

  await page.getByRole('button', { name: 'Edit…' }).click();
  form = page.getByRole('dialog', { name: 'Edit load' });
  await form.getByText('Command', { exact: true }).click();
  await form.getByRole('textbox', { name: 'Command' }).fill('true');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.command-box').getByText('true', { exact: true }).waitFor();
  assert.equal((await client.readSchedule('load')).definition, null);
});

test('the overview reports good health only while nothing fails', async () => {
  await using screen = await dashboard.open('/ui/');
  const { page } = screen;
  await page.getByText('Everything is running as it should.').waitFor();
  await dashboard.client.submit({ command: 'exit 1', max_attempts: 1 });
  await page
    .getByRole('status')
    .getByText(/1 of \d+ jobs? failed in the last 15 minutes/)
    .waitFor();
  assert.equal(await page.getByText('Everything is running as it should.').count(), 0);
});

test('the month says where a schedule has more runs than it knows', async () => {
  const { client } = dashboard;
  await client.createSchedule({ name: 'month-poll', every: '15m', job: { command: 'true' } });
  await client.createSchedule({ name: 'month-nightly', cron: '0 3 * * *', job: { command: 'true' } });
  await using screen = await dashboard.open('/ui/schedules?view=month&q=month-');
  const { page } = screen;
  await page.getByRole('button', { name: 'Next month' }).click();
  // The calendar looks 31 days ahead; sixty runs of month-poll are over after fifteen hours.
  const last = page.locator('.calendar-day').filter({ hasText: 'month-nightly' }).last();
  await last.waitFor();
  const poll = last.locator('.calendar-entry', { hasText: 'month-poll' });
  assert.equal(await poll.locator('.calendar-time').innerText(), '…');
});

test('the cells of one day say at which time they begin and end, those of several days on which date', async () => {
  const { client } = dashboard;
  const at = (hour: number, day = 3): string => new Date(Date.UTC(2026, 0, day, hour)).toISOString();
  const job = { command: 'true' };
  for (const [name, to] of Object.entries({ 'one-day': at(7), 'three-days': at(1, 5) })) {
    await client.createSchedule({ name, every: '1h', overlap: 'allow', job });
    await client.backfillSchedule(name, { from: at(2), to });
  }
  await using screen = await dashboard.open('/ui/schedules/one-day', { timezoneId: 'UTC' });
  const { page } = screen;
  const dates = page.locator('.coverage-dates');
  await dates.getByText('3 Jan 02:00').waitFor();
  await dates.getByText('06:00', { exact: true }).waitFor();
  await page.goto(`${dashboard.url}/ui/schedules/three-days`);
  await dates.getByText('5 Jan', { exact: true }).waitFor();
});

test('a form that is refused names the field, not its path in the request', async () => {
  await using screen = await dashboard.open('/ui/schedules', { allow: /status of 400/ });
  const { page } = screen;
  await page.getByRole('button', { name: 'New schedule' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('[name=name]').fill('No Such Name');
  await dialog.locator('[name=command]').fill('true');
  await dialog.getByRole('button', { name: 'Create' }).click();
  assert.match(await dialog.getByText(/expected a name of a-z/).innerText(), /^name: expected/);
});
