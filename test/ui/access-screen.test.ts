/** The screen of tokens and audit, and what people with other roles are offered. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { TokenSubmissionInput } from '../../src/api/token.ts';
import { assertAccessible } from '../kit/access.ts';
import { type Dashboard, openDashboard, type Screen, type ScreenOptions } from '../kit/dashboard.ts';
import { type Seeded, seedPage } from '../kit/page-seed.ts';

const TOKEN = 'a-token-for-this-test';
let dashboard: Dashboard;
let seeded: Seeded;

before(async () => {
  // The second target cannot be reached: private addresses are refused.
  const notify = JSON.stringify([
    { on: ['failed'], command: 'test "$WORKRON_NOTIFY_TEST" = true' },
    { on: ['late', 'missed'], webhook: 'http://127.0.0.1:9/secret' },
  ]);
  dashboard = await openDashboard({ token: TOKEN, args: ['--notify', notify] });
  seeded = await seedPage(dashboard.url, TOKEN);
});
after(() => dashboard[Symbol.asyncDispose]());

/** Opens a path, logged in with a token. */
async function openAs(token: string, path: string, options: ScreenOptions = {}): Promise<Screen> {
  const screen = await dashboard.open(path, { allow: /401/, ...options });
  await screen.page.getByLabel('Token').fill(token);
  await screen.page.getByRole('button', { name: 'Log in' }).click();
  await screen.page.getByRole('button', { name: 'Log out' }).waitFor();
  return screen;
}

async function tokenOf(role: TokenSubmissionInput['role'], queues?: string[]): Promise<string> {
  const name = `${role}-${(queues ?? ['all']).join('-')}`;
  return (await dashboard.client.createToken({ name, role, ...(queues && { queues }) })).token;
}

/** The names of the buttons and of links that look like buttons on a screen, without those that only change what is shown. */
async function actionsOn(page: Page, path: string, ready: string): Promise<string[]> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await page.locator(ready).first().waitFor();
  return page
    .locator('.page-head .actions button, .row-actions button, .card-foot button, .bulk-bar button, .new-job-button')
    .allInnerTexts();
}

test('access: a token is made, shown once, rotated and revoked', async () => {
  await using screen = await openAs(TOKEN, '/ui/access');
  const { page } = screen;
  await page.getByText('No tokens yet').waitFor();
  await page.getByRole('button', { name: 'New token' }).click();
  await assertAccessible(page, 'new token');
  await page.getByLabel('Name of the person or program').fill('ci');
  await page.getByLabel('Queues that it may use').fill('mail, builds');
  await page.getByRole('button', { name: 'Create token' }).click();
  const text = await page.getByLabel('Token', { exact: true }).innerText();
  await assertAccessible(page, 'made token');
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: /^ci submitter mail, builds/ });
  await row.waitFor();
  assert.ok(!(await page.content()).includes(text), 'it is not shown again');
  const asCi = { headers: { authorization: `Bearer ${text}` } };
  assert.equal((await fetch(`${dashboard.url}/jobs`, asCi)).status, 200);

  await row.getByRole('button', { name: 'Rotate… ci' }).click();
  await page.getByLabel('The old token stays valid for').selectOption('an hour');
  await page.getByRole('button', { name: 'Rotate', exact: true }).click();
  const second = await page.getByLabel('Token', { exact: true }).innerText();
  assert.notEqual(second, text);
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByText('replaced').waitFor();
  assert.equal((await fetch(`${dashboard.url}/jobs`, asCi)).status, 200, 'both are valid');

  await page.getByRole('button', { name: 'Revoke… ci' }).click();
  await page.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.locator('.badge', { hasText: 'revoked' }).first().waitFor();
  assert.equal((await fetch(`${dashboard.url}/jobs`, asCi)).status, 401);
});

test('access: the audit is listed, filtered and exported', async () => {
  await dashboard.client.pauseSchedule('nightly-backup', { note: 'for the audit' });
  await dashboard.client.resumeSchedule('nightly-backup');
  await using screen = await openAs(TOKEN, '/ui/access?tab=audit');
  const { page } = screen;
  await page.getByRole('row', { name: /schedule\.pause schedule\/nightly-backup done/ }).waitFor();
  await page.getByLabel('Part of the subject').fill('nightly-backup');
  await page
    .getByRole('row', { name: /session\.open/ })
    .first()
    .waitFor({ state: 'detached' });
  assert.match(await page.evaluate<string>('location.search'), /subject=nightly-backup/);
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByText('Export as JSON lines').click()]);
  assert.equal(download.suggestedFilename(), 'audit.jsonl');
  let text = '';
  for await (const chunk of await download.createReadStream()) text += String(chunk);
  const entries = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { action: string; subject: string; actor: string });
  assert.deepEqual(
    entries.map(({ action, subject, actor }) => [action, subject, actor]),
    [
      ['schedule.resume', 'schedule/nightly-backup', 'token'],
      ['schedule.pause', 'schedule/nightly-backup', 'token'],
      ['schedule.run', 'schedule/nightly-backup', 'token'],
      ['schedule.create', 'schedule/nightly-backup', 'token'],
    ],
  );
  await page.getByLabel('Who').fill('nobody');
  await page.getByText('No decision matches').waitFor();
});

test('jobs: the list is filtered by who submitted them', async () => {
  await using screen = await openAs(TOKEN, '/ui/jobs');
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  const field = page.getByRole('combobox', { name: 'Filter jobs' });
  await field.fill('by:');
  await page.getByRole('option', { name: 'token' }).click();
  await page.waitForURL(/submitted_by=token/);
  await page.locator('.job-row[data-job]').first().waitFor();
  await field.fill('by:nobody');
  await page.getByRole('button', { name: 'Clear the filters' }).waitFor();
});

for (const look of [
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 320 },
] as const) {
  test(`access: its screens are accessible, ${look.colorScheme}, ${look.width} px wide`, async () => {
    const viewport = { width: look.width, height: 700 };
    await using screen = await openAs(TOKEN, '/ui/access', { colorScheme: look.colorScheme, viewport });
    const { page } = screen;
    await page.locator('tbody tr').first().waitFor();
    await assertAccessible(page, `tokens ${look.width}`);
    await page.getByRole('tab', { name: 'Audit' }).click();
    await page.getByRole('columnheader', { name: 'Result', includeHidden: true }).waitFor({ state: 'attached' });
    await assertAccessible(page, `audit ${look.width}`);
  });
}

/** Screens with actions, and what shows that they are complete. */
function screensWithActions(): [path: string, ready: string][] {
  return [
    ['/ui/jobs', '.job-row[data-job]'],
    [`/ui/jobs/${seeded.failedJob}`, '.log-line'],
    ['/ui/workflows', 'tbody tr'],
    [`/ui/workflows/${seeded.failedWorkflow}?view=list`, 'tbody tr'],
    ['/ui/schedules', '.cell'],
    ['/ui/schedules/nightly-backup', '.ledger li'],
    ['/ui/queues', 'tbody tr'],
    ['/ui/workers', 'article'],
  ];
}

async function allActions(page: Page): Promise<string[]> {
  const found = new Set<string>();
  for (const [path, ready] of screensWithActions()) {
    for (const text of await actionsOn(page, path, ready)) found.add((text.split('\n')[0] ?? '').trim());
  }
  return [...found].filter((text) => text !== 'Copy as…').sort();
}

test('access: a viewer is offered nothing that would be refused', async () => {
  await using screen = await openAs(await tokenOf('viewer'), '/ui/jobs');
  const { page } = screen;
  assert.deepEqual(await allActions(page), []);
  assert.equal(await page.locator('.job-row input').count(), 0);
  assert.equal(await page.getByRole('link', { name: 'Access' }).count(), 0);
  await page.keyboard.press('n');
  await page.keyboard.press('Control+k');
  await page.getByRole('option', { name: /Go to Jobs/ }).waitFor();
  assert.equal(await page.getByRole('option', { name: /New job|Access/ }).count(), 0);
  await page.keyboard.press('Escape');
  await page.evaluate(`history.pushState(null, '', '/ui/access')`);
  await page.getByText('Only administrators see this').waitFor();
  await assertAccessible(page, 'access of a viewer');
});

test('access: a submitter may submit, and an operator may change', async () => {
  await using submitter = await openAs(await tokenOf('submitter'), '/ui/jobs');
  const submits = await allActions(submitter.page);
  for (const offered of [
    '+',
    'Run again',
    'Run now',
    'New schedule',
    'Run a workflow',
    'Rerun from here',
    'Edit…',
    'Backfill…',
  ]) {
    assert.ok(submits.includes(offered), `${offered} of ${submits.join(', ')}`);
  }
  for (const refused of ['Retry', 'Retry…', 'Cancel…', 'Pause', 'Pause…', 'Delete…', 'Drain…', 'Limit…']) {
    assert.ok(!submits.includes(refused), refused);
  }
  await using operator = await openAs(await tokenOf('operator'), '/ui/jobs');
  const operates = await allActions(operator.page);
  for (const offered of [...submits, 'Retry', 'Retry…', 'Cancel…', 'Pause', 'Pause…', 'Delete…', 'Drain…', 'Limit…']) {
    assert.ok(operates.includes(offered), `${offered} of ${operates.join(', ')}`);
  }
  assert.equal(await operator.page.getByRole('link', { name: 'Access' }).count(), 0);
});

test('access: a submitter of one queue is not offered to run jobs of others', async () => {
  await using screen = await openAs(await tokenOf('submitter', ['images']), `/ui/jobs/${seeded.failedJob}`);
  const { page } = screen;
  await page.getByRole('button', { name: 'Run with changes…' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Run again' }).count(), 0);
  // A rerun copies the whole workflow, which has steps in another queue.
  const path = `/ui/workflows/${seeded.failedWorkflow}?view=list`;
  assert.ok(!(await actionsOn(page, path, 'tbody tr')).some((text) => text.startsWith('Rerun from here')));
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path.replace('list', 'graph'))})`);
  await page.getByRole('button', { name: 'extract_refunds, failed', exact: true }).click();
  await page.getByRole('complementary', { name: 'Step extract_refunds' }).getByRole('link').first().waitFor();
  assert.equal(await page.getByRole('button', { name: /^Rerun from here/ }).count(), 0);
});

test('cluster: an admin sees the findings of the doctor in the words of the command, bad ones first; others are not offered them', async () => {
  const stuck = await dashboard.client.submit({ command: 'true', requires: ['nobody-has-it'] });
  const { items: findings } = await dashboard.client.readDoctor();
  assert.ok(
    findings.some(({ check, state }) => check === 'schema' && state === 'ok'),
    'the store was examined',
  );
  {
    await using screen = await openAs(TOKEN, '/ui/cluster');
    const region = screen.page.getByRole('region', { name: 'Findings of the doctor' });
    await region.waitFor();
    const shown = await region.locator('tbody th').allInnerTexts();
    const bad = findings.filter(({ state }) => state === 'bad');
    const rest = findings.filter(({ state }) => state !== 'bad');
    assert.ok(bad.length > 0 && findings[0]?.state === 'ok');
    assert.deepEqual(
      shown,
      [...bad, ...rest.filter(({ state }) => state !== 'ok'), ...rest.filter(({ state }) => state === 'ok')].map(
        ({ check }) => check,
      ),
    );
    assert.equal(await region.locator('.row-bad').count(), bad.length, 'they are seen from afar');
    await screen.page.getByRole('button', { name: 'Check again' }).click();
    await assertAccessible(screen.page, 'doctor');
  }
  await dashboard.client.cancelJob(stuck.id);
  const submitter = await tokenOf('submitter', ['doctor']);
  const refused = await fetch(`${dashboard.url}/doctor`, { headers: { authorization: `Bearer ${submitter}` } });
  assert.equal(refused.status, 403);
  await using screen = await openAs(submitter, '/ui/cluster');
  await screen.page.getByRole('columnheader', { name: 'Last seen' }).waitFor();
  assert.equal(await screen.page.getByRole('region', { name: 'Findings of the doctor' }).count(), 0);
});

test('cluster: targets of notifications are shown without addresses; an operator sends tests, a viewer cannot', async () => {
  const tokenFor = async (role: 'operator' | 'viewer') =>
    (await dashboard.client.createToken({ name: `notify-${role}`, role })).token;
  await using screen = await openAs(await tokenFor('operator'), '/ui/cluster');
  const { page } = screen;
  const region = page.getByRole('region', { name: 'Targets of notifications' });
  const [command, webhook] = [
    region.getByRole('row', { name: /1\. Command failed/ }),
    region.getByRole('row', { name: /2\. Webhook/ }),
  ];
  await command.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText('Command got the test message').waitFor();
  await webhook.getByRole('button', { name: 'Send a test' }).click();
  await page.getByText(/The test message was not delivered: .*private address/).waitFor();
  assert.doesNotMatch(await page.content(), /127\.0\.0\.1:9|WORKRON_NOTIFY_TEST/);
  await assertAccessible(page, 'targets of notifications');

  await using other = await openAs(await tokenFor('viewer'), '/ui/cluster');
  await other.page.getByRole('row', { name: /2\. Webhook late, missed/ }).waitFor();
  assert.equal(await other.page.getByRole('button', { name: 'Send a test' }).count(), 0);
});
