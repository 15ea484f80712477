/** The Gantt chart in a real browser: items, attempts, and the medians of earlier runs. */

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

const RETRY = { max_attempts: 3, backoff: { type: 'fixed' as const, base: '100ms' } };

test('a Gantt chart shows the items of a step, each attempt, and how earlier runs went', async () => {
  const { client } = dashboard;
  const steps = (breaks: boolean) => [
    { key: 'each', command: '[ "$WORKRON_ITEM" != 3 ]', for_each: breaks ? [1, 2, 3] : [1, 2], max_attempts: 1 },
    { key: 'flaky', command: '[ $WORKRON_ATTEMPT -ge 3 ]', ...RETRY },
    { key: 'last', command: 'sleep 0.3', depends_on: ['each', 'flaky'] },
  ];
  const { id: first } = await client.submitWorkflow({ name: 'report', steps: steps(false) });
  await waitForWorkflow(client, first);
  const { id: other } = await client.submitWorkflow({ name: 'other', steps: steps(false) });
  await waitForWorkflow(client, other);
  const { id } = await client.submitWorkflow({ name: 'report', steps: steps(true) });
  await waitForWorkflow(client, id);

  await using screen = await dashboard.open(`/ui/workflows/${id}?view=gantt`);
  const { page } = screen;
  const row = (key: string) => page.locator('.gantt-row', { hasText: key });
  await row('each').locator('.gantt-item[data-state="failed"]').waitFor();
  assert.equal(await row('each').locator('.gantt-item[data-state="done"]').count(), 2);
  await row('flaky').locator('.gantt-bar').nth(2).waitFor();
  assert.deepEqual(
    await Promise.all((await row('flaky').locator('.gantt-bar').all()).map((bar) => bar.getAttribute('data-state'))),
    ['failed', 'failed', 'done'],
  );
  await row('flaky')
    .getByText(/ran .*, 3 attempts$/)
    .waitFor();
  await page.getByText('Outline: the median of 1 earlier run.').waitFor();
  // The step was skipped, but it is known how long it usually takes.
  await row('last')
    .getByText(/^usually /)
    .waitFor();
  await row('last').locator('.gantt-usual').waitFor();
  await assertAccessible(page, 'a Gantt chart');
  assert.match(
    (await row('each').locator('[data-state="failed"].gantt-item').getAttribute('title')) ?? '',
    /^Item 2: /,
  );

  await page.goto(`${dashboard.url}/ui/workflows/${first}?view=gantt`);
  await row('last').locator('.gantt-bar').waitFor();
  assert.equal(await page.locator('.gantt-usual').count(), 0, 'the first run has no earlier one');
});
