/** Views in a real browser: the filter field, the side panel, the graph, the palette, the timeline. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from '../kit/access.ts';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';
import { waitForWorkflow } from '../kit/page-seed.ts';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard();
});
after(() => dashboard[Symbol.asyncDispose]());

test('the filter field suggests keys and known values, and says what is wrong', async () => {
  const { client } = dashboard;
  const job = await client.submit({ name: 'refund', queue: 'mail', command: 'echo 503; exit 1', max_attempts: 1 });
  await client.submit({ name: 'other', queue: 'images', command: 'true' });
  await client.waitJob(job.id, { timeout: '60s' });
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  const field = page.getByRole('combobox', { name: 'Filter jobs' });
  await field.fill('que');
  await page.getByRole('option', { name: /^queue:/ }).click();
  await page.getByRole('option', { name: 'mail' }).click();
  await page.waitForURL(/queue=mail/);
  await page.locator('.job-row[data-job]').first().waitFor();
  assert.equal(await page.locator('.job-row[data-job]').count(), 1);
  await field.fill('queue:mail status:failed error:"503"');
  await page.waitForURL(/error=503/);
  await page.locator(`[data-job="${job.id}"]`).waitFor();
  await field.fill('stauts:failed');
  await page.getByText('unknown key "stauts"; did you mean status?').waitFor();
  await page.goto(`${dashboard.url}/ui/jobs?queue=mail&status=failed`);
  assert.equal(await field.inputValue(), 'status:failed queue:mail');
});

test('a job opens beside the list with its log, and the keyboard still works after a click on a checkbox', async () => {
  const { id } = await dashboard.client.submit({ name: 'beside', command: 'echo beside the list' });
  await using screen = await dashboard.open('/ui/jobs?name=beside');
  const { page } = screen;
  await page.locator(`[data-job="${id}"] .col-3`).click();
  const panel = page.getByRole('complementary', { name: `Job ${id}` });
  await panel.locator('.log-text', { hasText: 'beside the list' }).waitFor();
  await page.waitForURL(new RegExp(`open=${id}`));
  await panel.getByRole('button', { name: 'Close the panel' }).click();
  await panel.waitFor({ state: 'detached' });
  await page.getByRole('checkbox', { name: /Select beside/ }).click();
  await page.keyboard.press('j');
  await page.locator('.job-row-current').waitFor();
});

test('each line of a log shows when it came, on demand', async () => {
  const started = Date.now();
  const { id } = await dashboard.client.submit({ name: 'timed', command: 'echo early; sleep 1.5; echo late' });
  await dashboard.client.waitJob(id, { timeout: '60s' });
  await using screen = await dashboard.open(`/ui/jobs/${id}`);
  const { page } = screen;
  await page.locator('.log-text', { hasText: 'late' }).waitFor();
  assert.equal(await page.locator('.log-time').count(), 0);
  await page.keyboard.press('T');
  await page.getByRole('button', { name: 'Times', pressed: true }).waitFor();
  const times = await page.locator('time.log-time').all();
  const [early = '', late = ''] = await Promise.all(times.map((each) => each.getAttribute('datetime')));
  assert.ok(Date.parse(early ?? '') >= started, `${early} after ${started}`);
  assert.ok(Date.parse(late ?? '') - Date.parse(early ?? '') >= 1_000, `${late} well after ${early}`);
});

test('a graph of fifty steps is readable: it is never smaller than 80 %, and a step opens a panel with its log', async () => {
  const { client } = dashboard;
  const steps = Array.from({ length: 50 }, (_, n) => ({
    key: `s${n}`,
    command: `echo output of s${n}`,
    ...(n === 0 ? {} : { depends_on: n > 4 && n % 3 === 0 ? [`s${n - 1}`, `s${n - 4}`] : [`s${n - 1}`] }),
  }));
  const { id } = await client.submitWorkflow({ name: 'long', steps });
  await waitForWorkflow(client, id);
  await using screen = await dashboard.open(`/ui/workflows/${id}`);
  const { page } = screen;
  await page.locator('.node').first().waitFor();
  const scale = await page.evaluate<number>(
    `Number(/scale\\(([\\d.]+)\\)/.exec(document.querySelector('.graph-svg > g').getAttribute('transform'))[1])`,
  );
  assert.ok(scale >= 0.8, `the scale is ${scale}`);
  await page.locator('.minimap').waitFor();
  // No edge runs through a step that it does not belong to.
  const crossed = await page.evaluate<number>(`(() => {
    const boxes = [...document.querySelectorAll('.node-box')].map((box) => {
      const { e, f } = box.parentElement.transform.baseVal.consolidate().matrix;
      return { left: e + 4, right: e + 174, top: f + 4, bottom: f + 44 };
    });
    return [...document.querySelectorAll('.edge')].filter((edge) => {
      const length = edge.getTotalLength();
      return boxes.some((box) => Array.from({ length: 60 }, (_, i) => edge.getPointAtLength((length * i) / 59))
        .some(({ x, y }) => x > box.left && x < box.right && y > box.top && y < box.bottom));
    }).length;
  })()`);
  assert.equal(crossed, 0);
  await page.getByRole('button', { name: 's0, done', exact: true }).click();
  await page.getByRole('complementary', { name: 'Step s0' }).getByText('output of s0').last().waitFor();
});

test('Ctrl-K finds schedules, queues and workflows by name', async () => {
  const { client, url } = dashboard;
  const source = 'name: load-orders\nsteps:\n  a: {command: "true"}\n';
  const stored = await fetch(`${url}/definitions/load-orders`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ source }),
  });
  assert.ok(stored.ok);
  await client.createSchedule({ name: 'nightly-backup', cron: '0 2 * * *', job: { command: 'true' } });
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('nightly-b');
  await page.getByRole('option', { name: /nightly-backup schedule/ }).click();
  await page.getByRole('heading', { name: 'nightly-backup' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('load-o');
  await page.getByRole('option', { name: /load-orders stored workflow/ }).click();
  await page.getByRole('heading', { name: 'load-orders' }).waitFor();
});

test('Ctrl-K runs, pauses and resumes by name', async () => {
  const { client } = dashboard;
  await client.createSchedule({ name: 'weekly-audit', cron: '0 2 * * 1', job: { command: 'true' } });
  await using screen = await dashboard.open('/ui/jobs');
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  for (const [typed, found, done] of [
    ['pause weekly', 'Pause schedule weekly-audit', 'Pause: schedule weekly-audit'],
    ['resume weekly', 'Resume schedule weekly-audit', 'Resume: schedule weekly-audit'],
    ['run weekly', 'Run schedule weekly-audit', 'Run: schedule weekly-audit'],
    ['drain', /^Drain worker/, 'Drain: worker'],
    ['undrain', /^Undrain worker/, 'Undrain: worker'],
  ] as const) {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(typed);
    await page.getByRole('option', { name: found }).click();
    await page.getByText(done).first().waitFor();
  }
  const { paused_at } = await client.readSchedule('weekly-audit');
  assert.equal(paused_at, null);
  assert.deepEqual(
    (await client.listTicks('weekly-audit')).items.map(({ kind }) => kind),
    ['manual'],
  );
  assert.deepEqual(
    (await Array.fromAsync(client.listWorkers())).map(({ state }) => state),
    ['online'],
  );
});

test('jobs are shown by name, failing names first, and a name leads to its jobs', async () => {
  const { client } = dashboard;
  const made = await client.submitAll([
    ...Array.from({ length: 3 }, () => ({ name: 'group-good', command: 'true', tags: ['grouped'] })),
    { name: 'group-bad', command: 'exit 1', max_attempts: 1, tags: ['grouped'] },
  ]);
  for (const { id } of made) await client.waitJob(id, { timeout: '60s' });
  await using screen = await dashboard.open('/ui/jobs?tag=grouped');
  const { page } = screen;
  await page.getByRole('button', { name: 'By name' }).click();
  await page.waitForURL(/by=name/);
  const rows = page.locator('.name-table tbody tr');
  await rows.nth(1).waitFor();
  assert.deepEqual(await rows.locator('th').allInnerTexts(), ['group-bad', 'group-good']);
  await rows.first().getByText('1 of 1').waitFor();
  assert.equal(await rows.nth(1).locator('.cell[data-state="done"]').count(), 3);
  await assertAccessible(page, 'jobs by name');
  await page.getByRole('button', { name: 'group-good' }).click();
  await page.locator('.job-row[data-job]').nth(2).waitFor();
  await page.waitForURL(/name=group-good/);
});

test('today: a run of the timeline opens, worries are links, and a group of failures is retried as a whole', async () => {
  const { client } = dashboard;
  const job = { command: 'echo refused >&2; [ -e mended ]', max_attempts: 1 };
  await client.createSchedule({ name: 'sync', every: '1h', overlap: 'allow', job });
  const [tick] = (await client.runSchedule('sync')).items;
  await client.waitJob(tick?.job_id ?? '', { timeout: '60s' });
  await using screen = await dashboard.open('/ui/');
  const { page } = screen;
  const status = page.getByRole('status', { name: 'Status' });
  await status.getByRole('link', { name: 'Schedule sync: its last run failed' }).waitFor();
  const row = page.locator('.day-row', { hasText: 'sync' });
  await row.locator('.day-row-next').first().waitFor();
  await row.locator('.day-row-mark.tone-red').click();
  await page.waitForURL(new RegExp(`/jobs/${tick?.job_id}`));
  await page.getByRole('link', { name: 'sync', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Jobs by name' }).click();
  await page.waitForURL(/\/jobs\?from=1h&by=name$/);
  await page.locator('.name-table tbody tr').first().waitFor();
  await page.goBack();
  await client.waitJob((await client.submit({ command: 'touch mended' })).id, { timeout: '60s' });
  await page.getByRole('button', { name: 'Retry all of sync' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Retry \d+ jobs?$/ })
    .click();
  await page.getByText('Retrying 1 job').waitFor();
  await page.goto(`${dashboard.url}/ui/jobs/${tick?.job_id}`);
  await page.locator('.page-head [data-state="done"]').waitFor();
});

test('a workflow is stored, run from a form made of its parameters, and its runs are shown', async () => {
  await using screen = await dashboard.open('/ui/workflows', { allow: /400/ });
  const { page } = screen;
  await page.getByRole('button', { name: 'Run a workflow' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run a workflow' });
  const source =
    'name: release\nparams:\n  version: {}\nsteps:\n  a:\n    command: echo releasing $WORKRON_PARAM_VERSION\n';
  await dialog.getByLabel('Workflow (YAML or JSON)').fill(source);
  await dialog.getByRole('button', { name: 'Store it' }).click();
  await page.getByRole('heading', { name: 'release' }).waitFor();
  await page.getByRole('button', { name: 'Run…' }).click();
  const form = page.getByRole('dialog', { name: 'Run release' });
  await form.getByLabel(/^version/).fill('1.4.0');
  await form.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.page-head [data-state="done"]').waitFor();
  await page.goto(`${dashboard.url}/ui/workflows`);
  const row = page.locator('tr', { hasText: 'release' }).first();
  await row.locator('.run-bar.tone-green').waitFor();
  await row.getByText('1 of 1 succeeded').waitFor();
});
