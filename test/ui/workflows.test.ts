/** Workflows, login, hostile text and bursts of changes in a real browser. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Dashboard, openDashboard } from '../kit/dashboard.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForWorkflow } from '../kit/page-seed.ts';

const TOKEN = 'a-token-for-this-test';

let dashboard: Dashboard;
before(async () => {
  dashboard = await openDashboard({ token: TOKEN });
});
after(() => dashboard[Symbol.asyncDispose]());

/** A browser context with a session. */
async function loggedIn() {
  const response = await fetch(`${dashboard.url}/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const [name, value] = (response.headers.get('set-cookie') ?? '').split(';', 1)[0]?.split('=', 2) ?? [];
  const cookie = {
    name: name as string,
    value: value as string,
    domain: '127.0.0.1',
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Strict' as const,
  };
  const { key } = (await response.json()) as { key: string };
  const localStorage = [{ name: 'workron.session', value: key }];
  return { storageState: { cookies: [cookie], origins: [{ origin: dashboard.url, localStorage }] } };
}

test('login: nothing is shown without the token, everything with it, and nothing after logging out', async () => {
  await dashboard.client.submit({ name: 'secret-job', command: 'true' });
  await using screen = await dashboard.open('/ui/jobs', { allow: /401/ });
  const { page } = screen;
  await page.getByLabel('Token').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('The token is not valid').waitFor();
  assert.equal(await page.getByText('secret-job').count(), 0);
  await page.getByLabel('Token').fill(TOKEN);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('secret-job').waitFor();
  assert.equal(await page.evaluate('document.cookie'), '', 'no script can read the cookie');
  await page.reload();
  await page.getByText('secret-job').waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  assert.equal(await page.getByText('secret-job').count(), 0);
  assert.equal(await page.evaluate(`fetch('/jobs').then((answer) => answer.status)`), 401);
});

test('a failed workflow can be found, fixed, rerun from its step, and is done', async () => {
  const { client } = dashboard;
  const { id } = await client.submitWorkflow({
    name: 'release',
    steps: [
      { key: 'build', command: 'echo built' },
      { key: 'check', command: 'test -e mended', depends_on: ['build'], max_attempts: 1 },
      { key: 'ship', command: 'echo shipped', depends_on: ['check'] },
    ],
  });
  await using screen = await dashboard.open(`/ui/workflows/${id}`, await loggedIn());
  const { page } = screen;
  await page.locator('.page-head [data-state="failed"]').waitFor();
  await page.getByRole('button', { name: 'ship, skipped, after check' }).waitFor();
  await client.waitJob((await client.submit({ command: 'touch mended' })).id, { timeout: '60s' });
  await page.getByRole('button', { name: 'check, failed, after build' }).click();
  await page.getByRole('button', { name: 'Rerun from here' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rerun from check' });
  await dialog.getByText('1 step after it').waitFor();
  await dialog.getByText(`workron workflow rerun ${id} --from check`).waitFor();
  await dialog.getByRole('button', { name: 'Rerun', exact: true }).click();
  await page.waitForURL((url) => url.pathname !== `/ui/workflows/${id}`);
  await page.locator('.page-head [data-state="done"]').waitFor();
  await page.getByRole('tab', { name: 'Gantt' }).click();
  await page.locator('.gantt-critical').first().waitFor();
  await page.getByRole('tab', { name: 'Steps (3)' }).click();
  await page.getByRole('row', { name: /ship/ }).locator('[data-state="done"]').waitFor();
  await page.getByRole('link', { name: 'ship' }).click();
  await page.locator('.log-text', { hasText: 'shipped' }).waitFor();
});

test('a pasted workflow shows its errors, and runs after they are fixed', async () => {
  await using screen = await dashboard.open('/ui/workflows', await loggedIn());
  const { page } = screen;
  await page.getByRole('button', { name: 'Run a workflow' }).click();
  const dialog = page.getByRole('dialog', { name: 'Run a workflow' });
  const field = dialog.getByLabel('Workflow (YAML or JSON)');
  await field.fill('name: pasted\nsteps:\n  a: { command: "true", depends_on: [b] }\n');
  await dialog.getByText(/Line 3: .*b/).waitFor();
  await field.fill(
    '{"name": "pasted", "steps": {"a": {"command": "true"}, "b": {"command": "true", "depends_on": ["a"]}}}',
  );
  await dialog.getByText('pasted, 2 steps').waitFor();
  await dialog.getByRole('button', { name: 'Run', exact: true }).click();
  await page.locator('.page-head [data-state="done"]').waitFor();
  await page.getByRole('heading', { name: 'pasted' }).waitFor();
});

test('names and output of jobs are shown as text only', async () => {
  const evil = '<img src=x onerror=alert(1)>';
  const turned = 'gpj.\u202Eexe.evil';
  const command = [
    String.raw`printf '<script>alert(2)</script>\n'`,
    String.raw`printf '\033]8;;javascript:alert(3)\007click me\033]8;;\007\n'`,
    String.raw`printf '\033]52;c;c2VjcmV0\007after the clipboard\n'`,
    String.raw`printf '\342\200\256reversed\n'`,
    'echo "javascript:alert(4)"',
    'exit 5',
  ].join('; ');
  const [first, second] = await dashboard.client.submitAll([
    { name: evil, queue: '<b>q</b>', tags: ['"><script>alert(5)</script>'], command, max_attempts: 1 },
    {
      name: 'second',
      queue: '<b>q</b>',
      handler: 'h',
      input: { html: evil, turned, deep: ['</script><script>alert(6)</script>'] },
    },
  ]);
  await assert.rejects(dashboard.client.submit({ name: turned, command: 'true' }), /direction/, 'names are refused');
  await dashboard.client.waitJob(first?.id ?? '', { timeout: '60s' });
  await dashboard.client.submitWorkflow({ name: evil, steps: [{ key: 'a', name: evil, command: 'true' }] });
  await using screen = await dashboard.open('/ui/jobs', await loggedIn());
  const { page } = screen;
  page.on('dialog', () => assert.fail('a script of a job has run'));
  await page.getByText(evil).first().waitFor();
  const visit = async (path: string, text: string): Promise<void> => {
    await page.goto(dashboard.url + path);
    await page.getByText(text).first().waitFor();
    assert.equal(
      await page.locator('img[src="x"], main script, main b:text("q"), a[href^="javascript:"]').count(),
      0,
      path,
    );
  };
  await visit(`/ui/jobs/${first?.id}`, '<script>alert(2)</script>');
  const log = await page.locator('.log-space').innerText();
  assert.match(log, /click me/);
  assert.match(log, /after the clipboard/);
  assert.match(log, /⟨U\+202E⟩reversed/);
  assert.doesNotMatch(log, /alert\(3\)|c2VjcmV0/, 'control sequences are removed');
  await visit(`/ui/jobs/${first?.id}?tab=attempts`, 'exit 5');
  await visit(`/ui/jobs/${second?.id}?tab=details`, '</script><script>alert(6)</script>');
  await page.getByText('gpj.⟨U+202E⟩exe.evil').waitFor();
  await visit('/ui/workflows', evil);
  await visit('/ui/queues', '<b>q</b>');
  await visit('/ui/', evil);
});

test('the overview takes its counts from the stream, without a request for each change', async () => {
  await dashboard.client.submit({ command: 'true' });
  await using screen = await dashboard.open('/ui/', await loggedIn());
  const { page } = screen;
  await page.locator('.chart-key').first().waitFor();
  let asked = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === '/queues') asked += 1;
  });
  const startedAt = performance.now();
  for (let round = 1; round <= 8; round += 1) {
    await dashboard.client.submitAll([{ queue: 'counted', command: 'true', delay: '1h' }]);
    await page.locator('.tile', { hasText: 'scheduled' }).getByText(String(round), { exact: true }).waitFor();
  }
  const most = 2 + (performance.now() - startedAt) / 4_000;
  assert.ok(asked <= most, `${asked} requests for 8 counts, at most ${most}`);
  await dashboard.client.bulkJobs({ action: 'cancel', filter: { queue: 'counted' } });
});

test('10,000 changes in a burst cost the page a few requests, all are shown, and it stays responsive', async () => {
  await using screen = await dashboard.open('/ui/jobs', await loggedIn());
  const { page } = screen;
  await page.locator('.job-row[data-job]').first().waitFor();
  let requests = 0;
  page.on('request', () => {
    requests += 1;
  });
  const startedAt = performance.now();
  for (let round = 0; round < 5; round += 1) {
    await dashboard.client.submitAll(
      Array.from({ length: 1_000 }, () => ({ queue: 'burst', command: 'true', delay: '1h' })),
    );
  }
  assert.ok((await page.locator('.job-row').count()) <= 200, 'only visible rows are rendered');
  await page.getByRole('link', { name: 'Queues' }).click();
  const all = page.locator('tr', { hasText: 'burst' }).getByText('5,000');
  await all.waitFor();
  await dashboard.client.bulkJobs({ action: 'cancel', filter: { queue: 'burst' } });
  await all.waitFor({ state: 'detached' });
  // The limit does not depend on the machine: a number for opening a screen, plus a few per second.
  const most = 30 + 4 * ((performance.now() - startedAt) / 1_000);
  assert.ok(requests <= most, `${requests} requests for 10,000 changes, at most ${most}`);
});

test('a failed step is filled in the graph, others are not', async () => {
  const { client } = dashboard;
  const steps = [
    { key: 'good', command: 'true' },
    { key: 'bad', command: 'exit 1', max_attempts: 1 },
  ];
  const { id } = await client.submitWorkflow({ name: 'half', steps });
  await waitForWorkflow(client, id);
  await using screen = await dashboard.open(`/ui/workflows/${id}`, await loggedIn());
  const { page } = screen;
  const fillOf = (tone: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('.node.tone-${tone} .node-box')).fill`);
  await page.locator('.node.tone-red').waitFor();
  assert.notEqual(await fillOf('red'), await fillOf('green'));
});

test('an item of a for_each step says that running it again runs all items of its step', async () => {
  const { id } = await dashboard.client.submitWorkflow({
    name: 'fan',
    steps: [{ key: 'each', for_each: ['a', 'b'], command: 'true' }],
  });
  const { steps } = await eventually(async () => {
    const workflow = await dashboard.client.readWorkflow(id);
    return workflow.status === 'done' ? workflow : undefined;
  });
  const group = steps[0]?.job_id as string;
  const item = (await dashboard.client.listJobs({ workflow_id: id })).items.find(({ group_id }) => group_id === group);
  await using screen = await dashboard.open(`/ui/jobs/${item?.id}`, await loggedIn());
  const { page } = screen;
  await page.getByRole('button', { name: 'Run whole step again' }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/ui/workflows/') && !url.pathname.endsWith(`/${id}`));
  assert.equal(await page.getByRole('button', { name: 'Run again', exact: true }).count(), 0);
});
